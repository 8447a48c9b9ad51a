// Right: every way out releases the pin, in code whose framework is not installed here.
#include <cuda_runtime.h>
#include <framework/tensor.h>

bool store(const framework::Tensor& tensor, void* device)
{
    void* host = nullptr;
    FRAMEWORK_CHECK(cudaMallocHost(&host, tensor.bytes()));
    auto shape = tensor.shape();
    if (shape.empty()) {
        cudaFreeHost(host);
        return false;
    }
    for (auto& part : tensor.parts())
        framework::copy(part, framework::View(host, shape));
    cudaMemcpy(device, host, tensor.bytes(), cudaMemcpyHostToDevice);
    cudaFreeHost(host);
    return true;
}

framework::Tensor adopt(size_t n)
{
    void* host = nullptr;
    FRAMEWORK_CHECK(cudaMallocHost(&host, n));
    return framework::from_blob(host, n, [](void* p) { cudaFreeHost(p); });
}
