// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "facts.hpp"
#include "pin_state.hpp"

#include <clang/AST/ParentMap.h>

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// What the engine has seen while it followed the paths of one function, kept for the rules that compare
/// paths.
namespace pinwarden::scan {

class Holes;
struct PreprocessorRecord;

/// A branch on a path and the way it went.
struct PathDecision {
    const clang::Stmt* terminator = nullptr;
    const clang::Expr* condition = nullptr;
    const clang::StackFrameContext* frame = nullptr;
    bool taken = false;
    bool in_loop = false;
};

/// What a function answers at the end of a path, as far as it is known.
enum class Answer { none, zero, negative, other, unknown };

/// A call on a path that gave back what a member of an object held when the function began.
struct MemberRelease {
    const clang::FieldDecl* field = nullptr;
    const MemRegion* memory = nullptr;
    const clang::Stmt* call = nullptr;
    const Api* api = nullptr;
    const clang::StackFrameContext* frame = nullptr;
    bool after_sync = false;
    std::vector<PathDecision> decisions;
};

/// The state of one pin at the end of a path.
struct PinAtEnd {
    const MemRegion* memory = nullptr;
    PinState state;
    const clang::FieldDecl* holder = nullptr;
    const clang::FieldDecl* memory_holder = nullptr;  ///< the member that holds the memory a handle covers
    Flags flags;
};

/// The end of one path through a function.
struct PathEnd {
    const ExplodedNode* node = nullptr;
    const clang::ReturnStmt* statement = nullptr;
    Answer answer = Answer::none;
    std::vector<PathDecision> decisions;
    std::vector<PinAtEnd> pins;
    std::vector<LostPin> lost;
    std::vector<const PinSite*> failed;
    std::set<const clang::FieldDecl*> known_null;
    std::map<const clang::FieldDecl*, bool> entry_flags;
    std::vector<const clang::FieldDecl*> in_flight;
};

/// Collects paths, findings and facts while the engine runs. One per file; `begin` starts the next function.
class PathLog {
public:
    PathLog(const ApiTable& apis, clang::ASTContext& ast, std::vector<Finding>& findings, FileFacts& facts)
        : apis_(&apis),
          ast_(&ast),
          findings_(&findings),
          facts_(&facts)
    {}

    const ApiTable& apis() const { return *apis_; }
    clang::ASTContext& ast() const { return *ast_; }
    std::vector<Finding>& findings() const { return *findings_; }
    FileFacts& facts() const { return *facts_; }

    void begin(const clang::FunctionDecl& function, const clang::StackFrameContext* frame);
    const clang::FunctionDecl& function() const { return *function_; }
    const clang::StackFrameContext* frame() const { return frame_; }

    const PinSite* intern(const PinSite& site);

    /// Adds a finding at a place in the code, with the way that leads from the root of the graph to `node`.
    void report(const char* rule, Confidence confidence, const clang::Stmt& place, std::string message,
                const ExplodedNode* node, const MemRegion* memory);

    /// The pin call as the frame `losing` sees it: the call itself, or the call of the wrapper that contains
    /// it.
    static const clang::Stmt& call_in_frame(const PinSite& site, const clang::StackFrameContext* losing);

    /// The branches between the beginning of the function and `node`, in order.
    std::vector<PathDecision> decisions_before(const ExplodedNode* node) const;

    const PreprocessorRecord* preprocessor = nullptr;
    const Holes* holes = nullptr;
    std::vector<PathEnd> ends;
    std::vector<MemberRelease> releases;
    std::set<const PinSite*> settled;  ///< pins with a finding of their own: not reported a second time

private:
    const ApiTable* apis_;
    clang::ASTContext* ast_;
    std::vector<Finding>* findings_;
    FileFacts* facts_;
    const clang::FunctionDecl* function_ = nullptr;
    const clang::StackFrameContext* frame_ = nullptr;
    std::deque<PinSite> sites_;
};

/// The region that stands for the memory behind a pointer, without casts and zero offsets; null if unknown.
const MemRegion* memory_of(SVal pointer);

/// The member that held the pointer to this memory when the function began, or null.
const clang::FieldDecl* origin_field(const MemRegion* memory);

/// The object that member belongs to, or null.
const MemRegion* origin_object(const MemRegion* memory);

/// True, false, or nothing if the path does not say whether the value is zero.
std::optional<bool> truth_of(const ProgramStateRef& state, SVal value);

}  // namespace pinwarden::scan
