// SPDX-License-Identifier: Apache-2.0

// What a program outside this project would write: it pins, asks the audit, and ends with nothing pinned. The same
// source is built through the CMake package, as a subdirectory and through pkg-config.

#include <cstdlib>
#include <iostream>
#include <string>

#include <pinwarden/pinwarden.hpp>

#if defined(USE_ZERO)
#include <pinwarden/zero.hpp>
#endif

int main() {
    const auto& registry = pinwarden::audit::Registry::instance();
    {
        pinwarden::PinnedBuffer<float> buffer(1024, {.backend = pinwarden::native_backend(), .label = "weights"});
        buffer.span()[1023] = 1.0F;
        if (registry.counts().live.pins != 1 || !registry.find(&buffer.span()[1023])) {
            std::cerr << "the audit does not know the buffer\n";
            return EXIT_FAILURE;
        }
        pinwarden::audit::set_stack_frames(8);
        const pinwarden::PinnedBuffer<float> traced(8, {.backend = pinwarden::native_backend(), .label = "traced"});
        pinwarden::audit::set_stack_frames(0);
        // Whether it names functions depends on the machine; that there are calls does not.
        if (to_text(pinwarden::audit::LeakReport::of_process()).find("\n    by ") == std::string::npos) {
            std::cerr << "the report does not show the calls that pinned\n";
            return EXIT_FAILURE;
        }
        try {
            pinwarden::PinnedScratch<float> scratch(8, {.pinning = pinwarden::Pinning::pageable});
            (void)scratch.acquire(9);
            std::cerr << "a scratch gave more than it holds\n";
            return EXIT_FAILURE;
        } catch (const pinwarden::CapacityError&) {  // the type is the same on both sides of the library's boundary
        }
    }
#if defined(USE_ZERO)
    try {
        (void)pinwarden::zero::read_config_text("{}", "nothing");
        std::cerr << "an empty configuration was accepted\n";
        return EXIT_FAILURE;
    } catch (const pinwarden::ConfigurationError& error) {
        std::cout << error.what() << '\n';
    }
#endif
    std::cout << to_text(pinwarden::audit::LeakReport::of_process()) << '\n';
    return registry.counts().locked_bytes() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
