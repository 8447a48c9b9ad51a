// Wrong: the early return loses the pin, in code whose framework is not installed here.
#include <cuda_runtime.h>
#include <framework/tensor.h>

bool store(const framework::Tensor& tensor, void* device)
{
    void* host = nullptr;
    FRAMEWORK_CHECK(cudaMallocHost(&host, tensor.bytes()));  // pin-expect: leak
    auto shape = tensor.shape();
    if (shape.empty())
        return false;
    framework::copy(tensor, framework::View(host, shape));
    cudaMemcpy(device, host, tensor.bytes(), cudaMemcpyHostToDevice);
    cudaFreeHost(host);
    return true;
}
