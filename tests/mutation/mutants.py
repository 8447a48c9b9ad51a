# SPDX-License-Identifier: Apache-2.0
"""The contracts of the library, each with a way to break it and the test program that must notice."""

from typing import NamedTuple


class Mutant(NamedTuple):
    contract: str
    file: str
    old: str      # a text that is in the file exactly once
    new: str
    program: str  # the target of the tests, whose program has the same name


NATIVE = "src/backend/native_backend.cpp"
LEDGER = "audit/registry/ledger.cpp"
CACHE = "audit/registry/ledger_cache.cpp"
IN_FLIGHT = "audit/registry/in_flight.cpp"
INDEX = "audit/registry/address_index.cpp"
PIN = "src/own/pin.cpp"
POOL = "src/pool/pinned_pool.cpp"
POOL_CACHE = "src/pool/pool_cache.cpp"
BLOCKS = "src/pool/cached_blocks.cpp"
SCOPE = "audit/registry/scope.cpp"
BYTES = "src/core/bytes.cpp"

MUTANTS = (
    Mutant("a release unpins", NATIVE,
           "if (calls_.unmap_pages(block.address, block.locked_bytes) == 0) return {};", "return {};", "conformance"),
    Mutant("the end of a registration unlocks its pages", NATIVE,
           "if (calls_.unlock_pages(pages.first, pages.length) == 0) return {};", "return {};", "conformance"),
    Mutant("pages that could not be locked are given back", NATIVE,
           "        calls_.unmap_pages(first, length);\n        throw;", "        throw;", "unit_backend"),
    Mutant("a range that could not be locked as a whole is not locked in part", NATIVE,
           "        calls_.unlock_pages(pages.first, pages.length);\n        throw;", "        throw;", "unit_backend"),
    Mutant("a block is released once", IN_FLIGHT,
           "            ledger.release_now(*entry);\n",
           "            ledger.release_now(*entry);\n            ledger.release_now(*entry);\n", "conformance"),
    Mutant("an event that is not complete keeps the block", IN_FLIGHT,
           "[](const CompletionTokenPtr& use) { return use->is_complete(); }",
           "[](const CompletionTokenPtr&) { return true; }", "conformance"),
    Mutant("a block waits for all its uses and not for any", IN_FLIGHT, "std::ranges::all_of", "std::ranges::any_of",
           "conformance"),
    Mutant("release goes to the backend that pinned", LEDGER, ": entry.backend->deallocate(block);",
           ": (fork_generation() == 0 ? UnpinAnswer{} : entry.backend->deallocate(block));", "conformance"),
    Mutant("release asks no configuration", LEDGER,
           "    const UnpinAnswer answer = entry.registered",
           "    if (std::getenv(\"DS_PIN_MEMORY_BACKEND\") != nullptr) return vacate(entry);\n"
           "    const UnpinAnswer answer = entry.registered", "conformance"),
    Mutant("every pin has a record", LEDGER,
           "    if (entry.pinned && !entry.registered) index_.insert(entry);\n    const std::size_t locked",
           "    const std::size_t locked", "unit_audit"),
    Mutant("a record is erased before its memory is given back", LEDGER,
           "void Ledger::unpin(Entry& entry) noexcept {\n    if (entry.pinned) index_.erase(entry);",
           "void Ledger::unpin(Entry& entry) noexcept {", "unit_audit"),
    Mutant("a failed unpin is quarantined", LEDGER, "if (answer.status == UnpinStatus::failed) {",
           "if (answer.status == UnpinStatus::failed && entry.registered) {", "conformance"),
    Mutant("a failed unpin is reported", LEDGER, "    report_release_failure(failure);", "", "conformance"),
    Mutant("what the system takes with it is counted", LEDGER,
           "        add(entry.shard->counts.left_to_system, entry.block);", "", "conformance"),
    Mutant("the peak is the most that was locked", LEDGER, "while (peak < locked &&", "while (peak > locked &&",
           "unit_audit"),
    Mutant("a child of fork() releases nothing", LEDGER, "return entry.generation != fork_generation();",
           "return entry.generation > fork_generation();", "conformance"),
    Mutant("two registrations share no page", INDEX, "if (other.begin < end && begin < other.end)",
           "if (other.begin == begin && other.end < begin)", "unit_audit"),
    Mutant("an entry that lies in two cells is filed under both", INDEX, "if (i == 1 && keys[0] == keys[1]) {",
           "if (i == 1) {", "unit_audit"),
    Mutant("a size that overflows is an error", BYTES, "__builtin_mul_overflow(count, element_bytes, &bytes)",
           "(bytes = count * element_bytes, false)", "unit_core"),
    Mutant("a pin that must be pinned never falls back", PIN,
           "        if (options.pinning != Pinning::prefer_pinned) throw;\n", "", "conformance"),
    Mutant("a fall-back is reported", PIN, "    entry.fell_back = true;\n", "", "conformance"),
    Mutant("a later use of a queue replaces the earlier one", PIN, "        *earlier = std::move(use);\n        return;",
           "        return;", "conformance"),
    Mutant("waiting waits", PIN,
           "    for (const CompletionTokenPtr& use : uses) wait_until_complete(*use);\n    uses.clear();",
           "    uses.clear();", "conformance"),
    Mutant("a closing scope waits for what is in flight", SCOPE, "    Ledger::instance().await(ref_, deadline);\n", "",
           "unit_audit"),
    Mutant("a scope that ends with live pins says so", SCOPE, "    if (live.pins == 0) return;", "    return;",
           "unit_audit"),
    Mutant("a pool reuses blocks of the same number of pages only", BLOCKS,
           "Entry* const entry = size->entries.newest();",
           "Entry* const entry = size->entries.newest() ? size->entries.newest() : all_.newest();", "unit_pool"),
    Mutant("a pool keeps to its limit", POOL_CACHE, "        if (mine->blocks.bytes() <= limit_bytes_) return true;",
           "        return true;", "unit_pool"),
    Mutant("a pool drops the oldest first", BLOCKS, "Entry* const entry = all_.oldest();",
           "Entry* const entry = all_.newest();", "unit_pool"),
    Mutant("a pool makes room for a pin that is refused", POOL, "if (cache_->trim(0) == 0) throw;", "throw;",
           "unit_pool"),
    Mutant("a pool's end unpins what it has cached", POOL, "PinnedPool::~PinnedPool() { cache_->trim(0); }",
           "PinnedPool::~PinnedPool() {}", "unit_pool"),
    Mutant("a child of fork() does not touch its parent's cached blocks", POOL_CACHE,
           "if (current->generation == fork_generation()) return current;", "return current;", "unit_pool"),
    Mutant("a cached block belongs to no scope", CACHE, "    std::swap(entry.scope, scope);\n", "", "unit_pool"),
    Mutant("a cached block is not counted as live", CACHE, "recount(entry, EntryState::cached);",
           "recount(entry, EntryState::live);", "unit_pool"),
    Mutant("a reused block has the size that was asked", CACHE, "        entry->block.bytes = bytes;\n", "", "unit_pool"),
    Mutant("a pool asks for whole pages", POOL, "block = backing_->allocate(whole);\n    } catch",
           "block = backing_->allocate(bytes);\n    } catch", "unit_pool"),
)
