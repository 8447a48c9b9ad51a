// SPDX-License-Identifier: Apache-2.0
#include <command/train/progress.hpp>

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <memory>

using namespace pinwarden::command;

namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::string content_of(std::FILE* file) {
    std::fflush(file);
    std::rewind(file);
    std::array<char, 4096> buffer{};
    return {buffer.data(), std::fread(buffer.data(), 1, buffer.size(), file)};
}

/// What a line of the given style writes in ten steps, with an event after the fifth.
std::string ten_steps(ProgressLine::Style style, std::uint64_t every) {
    const File file(std::tmpfile());
    {
        ProgressLine line(file.get(), style, every);
        for (std::uint64_t step = 1; step <= 10; ++step) {
            line.show({.step = step, .steps = 10, .loss = 20.0 / static_cast<double>(step)});
            if (step == 5) line.note("an event");
        }
    }
    return content_of(file.get());
}

}  // namespace

TEST_CASE("A progress line shows step, loss, speed and pinned bytes") {
    CHECK(to_text({.step = 120,
                   .steps = 300,
                   .loss = 2.4314,
                   .tokens_per_second = 18240.4,
                   .pinned_bytes = 8192}) ==
          "step 120/300  loss 2.431  18240 tokens/s  pinned 8192 bytes (8.0 KiB)");
}

TEST_CASE("Plain progress consists of whole lines: both ends and every so often in between") {
    const std::string text = ten_steps(ProgressLine::Style::plain, 4);
    std::size_t lines = 0;
    for (const char character : text) lines += character == '\n' ? 1U : 0U;
    CHECK(lines == 5);  // steps 1, 4, 8 and 10, and the event
    CHECK(text.find('\r') == std::string::npos);
    CHECK(text.starts_with("step 1/10 "));
    CHECK(text.find("\nstep 4/10 ") < text.find("\nan event\n"));
    CHECK(text.find("\nan event\n") < text.find("\nstep 8/10 "));
    CHECK(text.ends_with("\n"));
    CHECK(text.find("step 10/10 ") != std::string::npos);
}

TEST_CASE("A period of zero steps is one of one") {
    const std::string text = ten_steps(ProgressLine::Style::plain, 0);
    CHECK(text.find("\nstep 7/10 ") != std::string::npos);
}

TEST_CASE("Renewed progress is written over, events stay, and the line ends at the end") {
    const std::string text = ten_steps(ProgressLine::Style::renewing, 1);
    CHECK(text.starts_with("\rstep 1/10 "));
    const auto event = text.find("\ran event ");
    REQUIRE(event != std::string::npos);
    const auto end_of_event = text.find('\n', event);
    // The event covers the longer line that was there.
    CHECK(end_of_event - event > std::string("step 1/10  loss 20.000  0 tokens/s").size());
    CHECK(text.find("step 10/10 ") != std::string::npos);
    CHECK(text.ends_with("\n"));
}

TEST_CASE("Silent progress writes nothing") {
    CHECK(ten_steps(ProgressLine::Style::silent, 1).empty());
}

TEST_CASE("What is no terminal gets plain lines") {
    const File file(std::tmpfile());
    CHECK(ProgressLine::style_for(file.get()) == ProgressLine::Style::plain);
}
