// SPDX-License-Identifier: Apache-2.0
// Compares the library with the methods that runtimes use today; docs/testing.md says how to read the table.
#include "bench.hpp"
#include "comparison.hpp"

int main(int argc, char** argv) {
    pinwarden::bench::add_pins();
    pinwarden::bench::add_registry();
    pinwarden::bench::add_engines();
    return pinwarden::bench::run_comparisons(argc, argv);
}
