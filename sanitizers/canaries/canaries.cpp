// SPDX-License-Identifier: Apache-2.0

// One defect at a time, and its twin without the defect: `canaries DEFECT bad|good`. Which tool must see which defect
// is written down in sanitizers/canaries.py; run without arguments it lists the defects.

#include <pinwarden/pinwarden.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string_view>
#include <thread>

namespace {

using Buffer = pinwarden::PinnedBuffer<unsigned char>;

// A size that is easily found in a report, and that leaves most of its last page unused.
constexpr std::size_t bytes = 12321;

std::shared_ptr<pinwarden::PinnedPool> pool() {
    static const auto instance = std::make_shared<pinwarden::PinnedPool>(pinwarden::native_backend(), 1 << 20);
    return instance;
}

Buffer pin() { return Buffer(bytes, {.backend = pinwarden::native_backend(), .label = "canary"}); }
Buffer pin_pooled() { return Buffer(bytes, {.backend = pool(), .label = "canary"}); }

// Overwrites what earlier calls left on the stack, where a leak checker would take it for a pointer.
[[gnu::noinline]] void clear_stack() {
    volatile unsigned char used[8192];
    for (auto& byte : used) byte = 0;
}

// The compiler must not know what becomes of memory, or it draws its own conclusions.
volatile unsigned char* opaque(unsigned char* pointer) {
    asm volatile("" : "+r"(pointer));
    return pointer;
}

// Memory in which a handle lives and is forgotten: its destructor never runs.
struct Storage {
    alignas(Buffer) unsigned char bytes_of_handle[sizeof(Buffer)];
};

[[gnu::noinline]] void lose_handle(Storage& storage, Buffer (*make)(), bool bad) {
    auto* const handle = new (storage.bytes_of_handle) Buffer(make());
    if (!bad) handle->~Buffer();
    std::memset(storage.bytes_of_handle, 0, sizeof storage.bytes_of_handle);
}

void lost_handle(bool bad) {
    Storage storage;
    lose_handle(storage, pin, bad);
}

void lost_pooled_handle(bool bad) {
    pin_pooled().reset();
    Storage storage;
    lose_handle(storage, pin_pooled, bad);
}

// Uses memory that a handle has given back.
void use_after(Buffer handle, bool bad) {
    volatile unsigned char* const memory = opaque(handle.data());
    if (!bad) memory[5] = 1;
    handle.reset();
    if (bad) memory[5] = 1;
}

void use_after_unpin(bool bad) { use_after(pin(), bad); }
void use_after_return_to_pool(bool bad) { use_after(pin_pooled(), bad); }

void overrun_of(Buffer handle, bool bad) {
    volatile unsigned char* const memory = opaque(handle.data());
    memory[bad ? bytes : bytes - 1] = 1;
}

void overrun(bool bad) { overrun_of(pin(), bad); }

// A block that was larger for its last owner.
void overrun_in_pool(bool bad) {
    { const Buffer larger(bytes + 100, {.backend = pool()}); }
    overrun_of(pin_pooled(), bad);
}

// What a copy of a handle's bytes leads to.
void double_unpin(bool bad) {
    Storage copy;
    {
        Buffer handle = pin();
        std::memcpy(copy.bytes_of_handle, static_cast<void*>(&handle), sizeof copy.bytes_of_handle);
    }
    if (bad) std::launder(reinterpret_cast<Buffer*>(copy.bytes_of_handle))->~Buffer();
}

// A heap object whose only pointer lies in pinned memory is no leak until that pointer is overwritten.
[[gnu::noinline]] void put_object(Buffer& handle) {
    auto* const object = new unsigned char[777]();
    std::memcpy(handle.data(), static_cast<const void*>(&object), sizeof object);
}

void heap_object_behind_pin(bool bad) {
    static Buffer& handle = *new Buffer(pin());  // outlives the search for leaks
    std::memset(handle.data(), 0, bytes);
    put_object(handle);
    if (bad) std::memset(handle.data(), 0, bytes);
}

// New elements have no value.
void uninitialised_element(bool bad) {
    const Buffer handle = pin();
    auto* const memory = const_cast<unsigned char*>(handle.data());
    if (!bad) std::memset(memory, 1, bytes);
    if (*opaque(memory) == 7) std::puts("seven");
}

// A thread that still writes to a block when its next owner does.
void race_in_pool(bool bad) {
    pin_pooled().reset();
    Buffer handle = pin_pooled();
    unsigned char* const memory = handle.data();
    std::thread late([memory] { *opaque(memory) = 1; });
    if (!bad) late.join();
    handle.reset();
    Buffer next = pin_pooled();
    *opaque(next.data()) = 2;
    if (bad) late.join();
}

// A thread that still writes to a block when it is unpinned, which may happen before or after.
void race_with_unpin(bool bad) {
    Buffer handle = pin_pooled();
    unsigned char* const memory = handle.data();
    std::thread late([memory] { *opaque(memory) = 1; });
    if (!bad) late.join();
    handle.reset();
    if (bad) late.join();
}

void undefined_shift(bool bad) {
    volatile int distance = bad ? 40 : 4;
    volatile int shifted = 1 << distance;
    static_cast<void>(shifted);
}

// Not a defect of a program but of a tool: one that makes the locking of pages do nothing.
void locked_pages(bool bad) {
    const std::size_t before = pinwarden::kernel_locked_bytes();
    const Buffer handle = pin();
    const std::size_t expected = bad ? 0 : handle.locked_bytes();
    if (pinwarden::kernel_locked_bytes() - before == expected) return;
    std::fputs("VmLck: the kernel's count is not the registry's\n", stderr);
    std::exit(3);
}

struct Defect {
    std::string_view name;
    void (*run)(bool bad);
};

constexpr Defect defects[] = {
    {"lost_handle", lost_handle},
    {"lost_pooled_handle", lost_pooled_handle},
    {"use_after_unpin", use_after_unpin},
    {"use_after_return_to_pool", use_after_return_to_pool},
    {"overrun", overrun},
    {"overrun_in_pool", overrun_in_pool},
    {"double_unpin", double_unpin},
    {"heap_object_behind_pin", heap_object_behind_pin},
    {"uninitialised_element", uninitialised_element},
    {"race_in_pool", race_in_pool},
    {"race_with_unpin", race_with_unpin},
    {"undefined_shift", undefined_shift},
    {"locked_pages", locked_pages},
};

}  // namespace

int main(int count, char** arguments) {
    const std::string_view name = count == 3 ? arguments[1] : "";
    const std::string_view twin = count == 3 ? arguments[2] : "";
    for (const Defect& defect : defects) {
        if (defect.name != name || (twin != "bad" && twin != "good")) continue;
        defect.run(twin == "bad");
        clear_stack();
        return 0;
    }
    for (const Defect& defect : defects) std::puts(defect.name.data());
    return 2;
}
