// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The ranks that train one model together, as one of them sees them.
///
/// A rank is one engine with its data; all ranks call the same functions in the same order. Reductions add in
/// the order of the ranks, whatever carries the data, so that results do not depend on timing, and are the
/// same bits on every rank. Sums of low-precision numbers are rounded to low precision after each addition,
/// as the accumulation of micro-batches is: four ranks with one micro-batch each compute the bits of one rank
/// with four.
///
/// ```
/// zero::CommunicatorPtr ranks = zero::single_rank();       // or run_ranks(), or mpi::Session::world()
/// std::array<double, 1> loss{0.5};
/// ranks->all_reduce(loss, zero::Reduction::sum);
/// ```
/// Cost: a reduce-scatter of n elements moves n elements per rank and holds them a second time meanwhile.
///
/// Each rank's communicator is used by one thread at a time. A call whose sizes differ from those of another
/// rank, or that another rank can no longer take part in, throws CommunicationError on the ranks that wait;
/// the group is of no use afterwards.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gsl/span>

#include <pinwarden/core/error.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/zero/low_precision.hpp>

namespace pinwarden::zero {

/// Ranks could not do together what they were called for.
class PINWARDEN_API CommunicationError : public Error {
public:
    using Error::Error;
};

/// How the values of all ranks become one.
enum class Reduction : std::uint8_t {
    sum,         ///< added in the order of the ranks
    maximum,     ///< the largest; not a number if one is not
    logical_or,  ///< 1 if one of them is not 0, else 0
};

/// One rank's end of a group of ranks.
class PINWARDEN_API Communicator {
public:
    Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    /// This rank takes no further part: calls of others that need it throw.
    virtual ~Communicator();

    /// This rank, counted from 0.
    [[nodiscard]] virtual std::size_t rank() const noexcept = 0;
    /// How many ranks there are, at least 1.
    [[nodiscard]] virtual std::size_t size() const noexcept = 0;
    /// The group's name in errors.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;

    /// Waits until all ranks have come here.
    /// @throws CommunicationError
    void barrier();

    /// Replaces `data` by that of rank `root`.
    /// @throws CommunicationError, also if `root` is no rank or the sizes differ.
    void broadcast(gsl::span<std::byte> data, std::size_t root);

    /// Gathers what each rank has: `all` holds the ranks' parts one after the other, `sizes[r]` bytes of
    /// rank r. This rank's part is read from its place in `all`.
    /// @throws CommunicationError, also if `sizes` do not belong to `all` or differ between ranks.
    void all_gather(gsl::span<std::byte> all, gsl::span<const std::size_t> sizes);

    /// Adds up what each rank has. `data` holds one part per rank, `counts[r]` elements for rank r.
    /// Afterwards this rank's own part is the sum over all ranks; the other parts are as before.
    /// @throws CommunicationError as all_gather() does, std::bad_alloc
    void reduce_scatter(gsl::span<float> data, gsl::span<const std::size_t> counts);
    /// @copydoc reduce_scatter(gsl::span<float>, gsl::span<const std::size_t>)
    void reduce_scatter(gsl::span<Bf16> data, gsl::span<const std::size_t> counts);
    /// @copydoc reduce_scatter(gsl::span<float>, gsl::span<const std::size_t>)
    void reduce_scatter(gsl::span<Fp16> data, gsl::span<const std::size_t> counts);

    /// Reduces each value over all ranks; every rank gets the same bits.
    /// @throws CommunicationError, std::bad_alloc
    void all_reduce(gsl::span<double> values, Reduction reduction);

    /// Makes groups of the ranks that give the same colour, in the order of their ranks here. Every rank
    /// takes part.
    /// @throws CommunicationError, std::bad_alloc
    [[nodiscard]] std::shared_ptr<Communicator> split(std::size_t colour);

protected:
    /// What one call asks of every rank; all ranks must agree on it.
    struct Call {
        std::string_view operation;            ///< the function's name
        gsl::span<const std::size_t> sizes{};  ///< bytes per rank, or one number for all
        std::size_t root = 0;
    };

    // What an implementation provides. Sizes have been checked on this rank; it checks that all ranks make
    // the same call and throws CommunicationError otherwise.
    virtual void do_barrier(const Call& call) = 0;
    virtual void do_broadcast(const Call& call, gsl::span<std::byte> data) = 0;
    virtual void do_all_gather(const Call& call, gsl::span<std::byte> all) = 0;
    // `received` gets this rank's part of every rank's `data`, one after the other.
    virtual void do_exchange(const Call& call, gsl::span<const std::byte> data,
                             gsl::span<std::byte> received) = 0;
    virtual std::shared_ptr<Communicator> do_split(const Call& call, std::size_t colour) = 0;

    /// The beginning of every error: the call, the group, the rank.
    [[nodiscard]] std::string describe(const Call& call) const;

private:
    template <typename T>
    void reduce_scatter_elements(gsl::span<T> data, gsl::span<const std::size_t> counts);
    void require_parts(const Call& call, std::size_t bytes) const;
};

/// Shared ownership of one rank's end.
using CommunicatorPtr = std::shared_ptr<Communicator>;

/// The group of one rank, which communicates with none.
/// @throws std::bad_alloc
[[nodiscard]] PINWARDEN_API CommunicatorPtr single_rank();

/// How many elements each of `ranks` holds of `elements`: equal parts, rounded up, as long as they last, so
/// that the last part may be smaller and further ranks may hold none.
/// @throws std::bad_alloc
[[nodiscard]] PINWARDEN_API std::vector<std::size_t> partition_sizes(std::size_t elements, std::size_t ranks);

}  // namespace pinwarden::zero
