// Right: the pinned block goes to a queue whose consumer releases it.
#include <cuda_runtime.h>

#include <cstddef>
#include <deque>
#include <mutex>

struct Item {
    void* host;
    std::size_t bytes;
};

class Queue {
public:
    void push(Item item);
    bool pop(Item& item);

private:
    std::mutex mutex_;
    std::deque<Item> items_;
};

bool produce(Queue& queue, const void* device, std::size_t n)
{
    void* host = nullptr;
    if (cudaMallocHost(&host, n) != cudaSuccess)
        return false;
    if (cudaMemcpy(host, device, n, cudaMemcpyDeviceToHost) != cudaSuccess) {
        cudaFreeHost(host);
        return false;
    }
    queue.push(Item{host, n});
    return true;
}

void consume(Queue& queue)
{
    Item item{};
    while (queue.pop(item))
        cudaFreeHost(item.host);
}
