#pragma once

#include <string>
#include <string_view>

namespace shardlab::results {

/// UTF-8 in which bytes that are none, and characters that XML does not allow, have become the
/// replacement character.
[[nodiscard]] std::string valid_text(std::string_view text);

/// Stored text as text of HTML, SVG and XML, also inside quotes: what it holds stays text.
[[nodiscard]] std::string markup_text(std::string_view text);

/// Stored text as one line of Markdown, also inside of a table: it makes no link, tag, list or
/// mention.
[[nodiscard]] std::string markdown_text(std::string_view text);

/// Stored text as the message of a workflow command of GitHub, or as the value of a property of it.
[[nodiscard]] std::string annotation_text(std::string_view text);
[[nodiscard]] std::string annotation_property(std::string_view text);

}  // namespace shardlab::results
