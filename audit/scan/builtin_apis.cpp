// SPDX-License-Identifier: Apache-2.0
#include "api_table.hpp"

#include <string>
#include <utility>

namespace pinwarden::scan {
namespace {

Api named(std::string name, ApiKind kind, std::string family, int argument)
{
    Api api;
    api.name = std::move(name);
    api.kind = kind;
    api.family = std::move(family);
    api.argument = argument;
    return api;
}

Api pin_out(std::string name, std::string family)
{
    Api api = named(std::move(name), ApiKind::pin_out, std::move(family), 0);
    api.size_argument = 1;
    return api;
}

Api pin_argument(std::string name, std::string family, std::int64_t foreign_code = 0)
{
    Api api = named(std::move(name), ApiKind::pin_argument, std::move(family), 0);
    api.size_argument = 1;
    api.foreign_code = foreign_code;
    return api;
}

Api release(std::string name, std::string family)
{
    return named(std::move(name), ApiKind::release, std::move(family), 0);
}

Api by_range(Api api)
{
    api.by_range = true;
    api.size_argument = 1;
    return api;
}

Api pin_return(std::string name, std::string family, Success success)
{
    Api api = named(std::move(name), ApiKind::pin_return, std::move(family), -1);
    api.success = success;
    return api;
}

Api copy(std::string name, int destination, int source, int stream, CopyDirection direction,
         int direction_argument)
{
    Api api = named(std::move(name), ApiKind::copy_async, "copy", destination);
    api.memory_argument = source;
    api.stream_argument = stream;
    api.direction = direction;
    api.direction_argument = direction_argument;
    return api;
}

Api record(std::string name, int event, int stream)
{
    Api api = named(std::move(name), ApiKind::record_event, "event", event);
    api.stream_argument = stream;
    return api;
}

Api device_view(std::string name)
{
    Api api = named(std::move(name), ApiKind::device_view, "device", 0);
    api.memory_argument = 1;
    return api;
}

Api simple(std::string name, ApiKind kind, int argument = 0)
{
    return named(std::move(name), kind, "runtime", argument);
}

void add_runtime(ApiTable& table, const std::string& prefix, const std::string& family)
{
    constexpr std::int64_t already_registered = 712;
    const auto name = [&](const char* rest) { return prefix + rest; };
    table.add(pin_out(name("HostAlloc"), family + "-host"));
    table.add(pin_out(name("MallocHost"), family + "-host"));
    table.add(release(name("FreeHost"), family + "-host"));
    table.add(pin_argument(name("HostRegister"), family + "-register", already_registered));
    table.add(release(name("HostUnregister"), family + "-register"));
    for (const char* rest : {"Free", "FreeAsync", "FreeArray"})
        table.add(named(name(rest), ApiKind::free_memory, "device", 0));
    table.add(device_view(name("HostGetDevicePointer")));
    table.add(copy(name("MemcpyAsync"), 0, 1, 4, CopyDirection::by_argument, 3));
    table.add(copy(name("Memcpy2DAsync"), 0, 2, 7, CopyDirection::by_argument, 6));
    table.add(copy(name("MemcpyToSymbolAsync"), -1, 1, 5, CopyDirection::host_to_device, -1));
    table.add(copy(name("MemcpyFromSymbolAsync"), 0, -1, 5, CopyDirection::device_to_host, -1));
    table.add(simple(name("StreamSynchronize"), ApiKind::sync_stream));
    table.add(simple(name("StreamQuery"), ApiKind::sync_stream));
    table.add(simple(name("EventSynchronize"), ApiKind::sync_event));
    table.add(simple(name("EventQuery"), ApiKind::sync_event));
    // Freeing device memory waits for the device too.
    for (const char* rest :
         {"DeviceSynchronize", "ThreadSynchronize", "DeviceReset", "Memcpy", "Memcpy2D", "Free"})
        table.add(simple(name(rest), ApiKind::sync_all));
    table.add(record(name("EventRecord"), 0, 1));
    table.add(record(name("EventRecordWithFlags"), 0, 1));
    table.add(simple(name("LaunchHostFunc"), ApiKind::callback, 1));
    table.add(simple(name("StreamAddCallback"), ApiKind::callback, 1));
    for (const char* rest : {"GetLastError", "PeekAtLastError"})
        table.add(simple(name(rest), ApiKind::query_error));
}

void add_hip(ApiTable& table)
{
    add_runtime(table, "hip", "hip");
    table.add(pin_out("hipHostMalloc", "hip-host"));
    table.add(release("hipHostFree", "hip-host"));
    table.add(copy("hipMemcpyHtoDAsync", 0, 1, 3, CopyDirection::host_to_device, -1));
    table.add(copy("hipMemcpyDtoHAsync", 0, 1, 3, CopyDirection::device_to_host, -1));
}

void add_driver(ApiTable& table)
{
    constexpr std::int64_t already_registered = 712;
    table.add(pin_out("cuMemHostAlloc", "cu-host"));
    table.add(pin_out("cuMemAllocHost", "cu-host"));
    table.add(release("cuMemFreeHost", "cu-host"));
    table.add(pin_argument("cuMemHostRegister", "cu-register", already_registered));
    table.add(release("cuMemHostUnregister", "cu-register"));
    table.add(named("cuMemFree", ApiKind::free_memory, "device", 0));
    table.add(named("cuMemFreeAsync", ApiKind::free_memory, "device", 0));
    table.add(device_view("cuMemHostGetDevicePointer"));
    table.add(copy("cuMemcpyHtoDAsync", 0, 1, 3, CopyDirection::host_to_device, -1));
    table.add(copy("cuMemcpyDtoHAsync", 0, 1, 3, CopyDirection::device_to_host, -1));
    table.add(copy("cuMemcpyAsync", 0, 1, 3, CopyDirection::unknown, -1));
    table.add(simple("cuStreamSynchronize", ApiKind::sync_stream));
    table.add(simple("cuStreamQuery", ApiKind::sync_stream));
    table.add(simple("cuEventSynchronize", ApiKind::sync_event));
    table.add(simple("cuEventQuery", ApiKind::sync_event));
    for (const char* name :
         {"cuCtxSynchronize", "cuCtxDestroy", "cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpy", "cuMemFree"})
        table.add(simple(name, ApiKind::sync_all));
    table.add(record("cuEventRecord", 0, 1));
    table.add(simple("cuLaunchHostFunc", ApiKind::callback, 1));
    table.add(simple("cuStreamAddCallback", ApiKind::callback, 1));
}

void add_linux(ApiTable& table)
{
    constexpr std::uint64_t map_locked = 0x2000;
    table.add(by_range(pin_argument("mlock", "mlock")));
    table.add(by_range(pin_argument("mlock2", "mlock")));
    table.add(by_range(release("munlock", "mlock")));
    table.add(named("mlockall", ApiKind::pin_everything, "mlock", -1));
    Api map = by_range(pin_return("mmap", "locked-map", Success::not_minus_one));
    map.flag_argument = 3;
    map.flag_mask = map_locked;
    map.size_argument = 1;
    table.add(map);
    table.add(named("munmap", ApiKind::free_memory, "map", 0));
    table.add(by_range(release("munmap", "locked-map")));
    table.add(named("free", ApiKind::free_memory, "malloc", 0));
    table.add(named("cfree", ApiKind::free_memory, "malloc", 0));
    table.add(named("realloc", ApiKind::move_memory, "malloc", 0));
    table.add(named("mremap", ApiKind::move_memory, "map", 0));
    for (const char* name : {"malloc", "calloc", "aligned_alloc", "valloc", "memalign"})
        table.add(named(name, ApiKind::allocate, "malloc", -1));
    for (const char* name : {"memcpy", "memset", "memmove", "strcpy", "strncpy", "fread", "fgets", "memset_s",
                             "explicit_bzero", "bzero"})
        table.add(named(name, ApiKind::write, "host", 0));
    for (const char* name : {"read", "pread", "recv"})
        table.add(named(name, ApiKind::write, "host", 1));
}

void add_verbs(ApiTable& table)
{
    // The headers of newer versions turn the first two into calls of functions with underscores.
    for (const char* name : {"ibv_reg_mr", "ibv_reg_mr_iova", "ibv_reg_mr_iova2", "__ibv_reg_mr", "__ibv_reg_mr_iova",
                             "rdma_reg_msgs", "rdma_reg_read", "rdma_reg_write"}) {
        Api api = pin_return(name, "verbs", Success::non_null);
        api.memory_argument = 1;
        api.size_argument = 2;
        table.add(api);
    }
    table.add(release("ibv_dereg_mr", "verbs"));
    table.add(release("rdma_dereg_mr", "verbs"));
}

void add_uring(ApiTable& table)
{
    table.add(pin_argument("io_uring_register_buffers", "uring"));
    table.add(pin_argument("io_uring_register_buffers_sparse", "uring"));
    table.add(release("io_uring_unregister_buffers", "uring"));
    table.add(release("io_uring_queue_exit", "uring"));
    for (const char* name : {"io_uring_register_buffers", "io_uring_register_buffers_sparse"}) {
        Api api = pin_argument(name, "uring");
        api.size_argument = -1;
        table.add(api);
    }
}

}  // namespace

ApiTable ApiTable::builtin()
{
    ApiTable table;
    add_runtime(table, "cuda", "cuda");
    add_hip(table);
    add_driver(table);
    add_linux(table);
    add_verbs(table);
    add_uring(table);
    return table;
}

}  // namespace pinwarden::scan
