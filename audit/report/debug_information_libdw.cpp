// SPDX-License-Identifier: Apache-2.0
#include "report/debug_information.hpp"

#include <cstdlib>
#include <type_traits>
#include <utility>

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

namespace pinwarden::audit {
namespace {

// The functions of libdw, which is loaded when they are first needed: programs that capture no stack neither need it
// installed nor pay for it at their start.
class Libdw {
public:
    /// Null where the library is not installed or lacks a function.
    [[nodiscard]] static const Libdw* loaded() {
        static const Libdw library;
        return library.complete_ ? &library : nullptr;
    }

    decltype(&::dwfl_begin) begin = nullptr;
    decltype(&::dwfl_end) end = nullptr;
    decltype(&::dwfl_linux_proc_report) report_process = nullptr;
    decltype(&::dwfl_report_end) report_end = nullptr;
    decltype(&::dwfl_linux_proc_find_elf) find_elf = nullptr;
    decltype(&::dwfl_build_id_find_debuginfo) find_debuginfo = nullptr;
    decltype(&::dwfl_addrmodule) module_at = nullptr;
    decltype(&::dwfl_module_addrname) symbol_at = nullptr;
    decltype(&::dwfl_module_getsrc) line_at = nullptr;
    decltype(&::dwfl_lineinfo) line_info = nullptr;
    decltype(&::dwfl_module_addrdie) unit_at = nullptr;
    decltype(&::dwarf_getscopes) scopes_at = nullptr;
    decltype(&::dwarf_getscopes_die) scopes_around = nullptr;
    decltype(&::dwarf_tag) tag = nullptr;
    decltype(&::dwarf_diename) name = nullptr;
    decltype(&::dwarf_attr) attribute = nullptr;
    decltype(&::dwarf_attr_integrate) inherited_attribute = nullptr;
    decltype(&::dwarf_formstring) as_string = nullptr;
    decltype(&::dwarf_formudata) as_number = nullptr;
    decltype(&::dwarf_getsrcfiles) files = nullptr;
    decltype(&::dwarf_filesrc) file_name = nullptr;

private:
    Libdw() {
        // Never unloaded: a report may be written when little else is left of the program.
        void* const handle = ::dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) return;
        complete_ = true;
        const auto bind = [&](auto& function, const char* symbol) {
            void* const address = ::dlsym(handle, symbol);
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
            complete_ = complete_ && address != nullptr;
        };
        bind(begin, "dwfl_begin");
        bind(end, "dwfl_end");
        bind(report_process, "dwfl_linux_proc_report");
        bind(report_end, "dwfl_report_end");
        bind(find_elf, "dwfl_linux_proc_find_elf");
        bind(find_debuginfo, "dwfl_build_id_find_debuginfo");
        bind(module_at, "dwfl_addrmodule");
        bind(symbol_at, "dwfl_module_addrname");
        bind(line_at, "dwfl_module_getsrc");
        bind(line_info, "dwfl_lineinfo");
        bind(unit_at, "dwfl_module_addrdie");
        bind(scopes_at, "dwarf_getscopes");
        bind(scopes_around, "dwarf_getscopes_die");
        bind(tag, "dwarf_tag");
        bind(name, "dwarf_diename");
        bind(attribute, "dwarf_attr");
        bind(inherited_attribute, "dwarf_attr_integrate");
        bind(as_string, "dwarf_formstring");
        bind(as_number, "dwarf_formudata");
        bind(files, "dwarf_getsrcfiles");
        bind(file_name, "dwarf_filesrc");
    }

    bool complete_ = false;
};

// Scopes that libdw allocated, which are the caller's to free.
using Scopes = std::unique_ptr<Dwarf_Die, decltype(&std::free)>;

class LibdwInformation final : public DebugInformation {
public:
    explicit LibdwInformation(const Libdw& dw) : dw_(dw) {
        // Only what is installed beside the modules: looking on a server could take minutes at the end of a program.
        callbacks_.find_elf = dw.find_elf;
        callbacks_.find_debuginfo = dw.find_debuginfo;
        session_ = dw.begin(&callbacks_);
        if (session_ == nullptr) return;
        const bool reported = dw.report_process(session_, ::getpid()) == 0;
        if (dw.report_end(session_, nullptr, nullptr) == 0 && reported) return;
        dw.end(std::exchange(session_, nullptr));
    }

    ~LibdwInformation() override {
        if (session_ != nullptr) dw_.end(session_);
    }

    std::vector<CodePlace> places(std::uintptr_t address) override {
        Dwfl_Module* const module = session_ == nullptr ? nullptr : dw_.module_at(session_, address);
        if (module == nullptr) return {};
        CodePlace place = line_of(module, address);
        std::vector<CodePlace> found = inlined_places(module, address, place);
        if (found.empty()) {
            if (const char* const symbol = dw_.symbol_at(module, address)) place.function = demangled(symbol);
            if (!place.function.empty() || place.line != 0) found.push_back(std::move(place));
        }
        return found;
    }

private:
    CodePlace line_of(Dwfl_Module* module, std::uintptr_t address) const {
        CodePlace place;
        Dwfl_Line* const line = dw_.line_at(module, address);
        if (line == nullptr) return place;
        int number = 0;
        const char* const file = dw_.line_info(line, nullptr, &number, nullptr, nullptr, nullptr);
        if (file != nullptr) place.file = file;
        place.line = static_cast<std::uint32_t>(number);
        return place;
    }

    // The functions that the code at `address` belongs to, from the one that `place` is in outward.
    std::vector<CodePlace> inlined_places(Dwfl_Module* module, std::uintptr_t address, CodePlace place) const {
        std::vector<CodePlace> found;
        Dwarf_Addr bias = 0;
        Dwarf_Die* const unit = dw_.unit_at(module, address, &bias);
        if (unit == nullptr) return found;
        Dwarf_Die* innermost = nullptr;
        const int count = dw_.scopes_at(unit, address - bias, &innermost);
        const Scopes innermost_owner(innermost, &std::free);
        if (count <= 0) return found;
        Dwarf_Die* chain = nullptr;
        const int depth = dw_.scopes_around(innermost, &chain);
        const Scopes chain_owner(chain, &std::free);
        for (int level = 0; level < depth; ++level) {
            Dwarf_Die* const scope = chain + level;
            const int tag = dw_.tag(scope);
            if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
            place.function = function_name(scope);
            if (tag == DW_TAG_subprogram) {
                // The symbol says more than the name: scopes and parameters, also of functions that are not exported.
                if (const char* const symbol = dw_.symbol_at(module, address)) place.function = demangled(symbol);
                found.push_back(std::move(place));
                break;
            }
            found.push_back(std::move(place));
            place = call_place(unit, scope);
        }
        return found;
    }

    std::string function_name(Dwarf_Die* scope) const {
        Dwarf_Attribute attribute;
        if (dw_.inherited_attribute(scope, DW_AT_linkage_name, &attribute) != nullptr) {
            if (const char* const symbol = dw_.as_string(&attribute)) return demangled(symbol);
        }
        const char* const name = dw_.name(scope);
        return name == nullptr ? std::string() : name;
    }

    // Where an inlined function was called.
    CodePlace call_place(Dwarf_Die* unit, Dwarf_Die* scope) const {
        CodePlace place;
        Dwarf_Attribute attribute;
        Dwarf_Word number = 0;
        if (dw_.attribute(scope, DW_AT_call_line, &attribute) != nullptr &&
            dw_.as_number(&attribute, &number) == 0) {
            place.line = static_cast<std::uint32_t>(number);
        }
        Dwarf_Files* files = nullptr;
        std::size_t file_count = 0;
        if (dw_.attribute(scope, DW_AT_call_file, &attribute) != nullptr &&
            dw_.as_number(&attribute, &number) == 0 && dw_.files(unit, &files, &file_count) == 0 &&
            number < file_count) {
            if (const char* const file = dw_.file_name(files, number, nullptr, nullptr)) place.file = file;
        }
        return place;
    }

    const Libdw& dw_;
    Dwfl_Callbacks callbacks_{};
    Dwfl* session_ = nullptr;
};

}  // namespace

std::unique_ptr<DebugInformation> make_debug_information() {
    const Libdw* const dw = Libdw::loaded();
    return dw == nullptr ? nullptr : std::make_unique<LibdwInformation>(*dw);
}

}  // namespace pinwarden::audit
