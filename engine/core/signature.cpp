#include "engine/core/signature.h"

#include <algorithm>

#include "engine/core/check.h"

namespace shardlab {

std::vector<std::int64_t> DimUse::offsets(const Split& split) const {
  std::vector<std::int64_t> mapped;
  mapped.reserve(split.offsets().size());
  for (const std::int64_t offset : split.offsets()) {
    const std::int64_t scaled = (std::clamp(offset, begin, end) - begin) * numerator;
    if (scaled % denominator != 0) return {};
    mapped.push_back(scaled / denominator);
  }
  return mapped;
}

int Placing::add(std::int64_t extent, bool whole) {
  expect(letters < max_letters, "more than {} letters", max_letters);
  letter[letters] = {extent, whole};
  return letters++;
}

Signature::Signature(std::string_view text) : text_(text) {
  const std::size_t arrow = text.find("->");
  expect(arrow != std::string_view::npos, "signature '{}' has no ->", text);
  const auto parse_side = [this](std::string_view side, std::vector<Operand>& operands) {
    while (true) {
      const std::size_t comma = side.find(',');
      operands.push_back(parse_operand(side.substr(0, comma)));
      if (comma == std::string_view::npos) return;
      side.remove_prefix(comma + 1);
    }
  };
  parse_side(text.substr(0, arrow), inputs_);
  parse_side(text.substr(arrow + 2), outputs_);
  expect(inputs() <= max_inputs && outputs() <= max_outputs, "signature '{}' is too long", text);
}

Signature::Operand Signature::parse_operand(std::string_view text) {
  Operand operand;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) != std::string_view::npos) {
    std::string_view word = text.substr(at, text.find(' ', at) - at);
    at += word.size();
    if (word == "...") {
      expect(operand.words.empty(), "... must come first in '{}'", text);
      operand.leading = true;
      continue;
    }
    const bool whole = word.back() == '!';
    if (whole) word.remove_suffix(1);
    auto name = std::find(names_.begin(), names_.end(), word);
    if (name == names_.end()) name = names_.insert(names_.end(), std::string(word));
    operand.words.push_back({static_cast<int>(name - names_.begin()), whole});
  }
  return operand;
}

Signature::Extents Signature::check_shapes(const char* op,
                                           std::span<const Shape* const> shapes) const {
  check(static_cast<int>(shapes.size()) == inputs(), "{}: {} operands given, '{}' has {}", op,
        shapes.size(), text_, inputs());
  const int named = static_cast<int>(names_.size());
  Extents extents;
  int leading = 0;
  for (int i = 0; i < inputs(); ++i) {
    const int words = static_cast<int>(inputs_[i].words.size());
    const int extra = shapes[i]->ndim() - words;
    check(inputs_[i].leading ? extra >= 0 : extra == 0, "{}: operand {} has {} dims, '{}' has {}{}",
          op, i, shapes[i]->ndim(), text_, inputs_[i].leading ? "at least " : "", words);
    if (inputs_[i].leading) leading = std::max(leading, extra);
  }
  extents.letters = named + leading;
  expect(extents.letters <= max_letters, "more than {} letters in '{}'", max_letters, text_);
  for (int l = 0; l < named; ++l) extents.extent[l] = -1;
  for (int l = named; l < extents.letters; ++l) extents.extent[l] = 1;
  for (int i = 0; i < inputs(); ++i) {
    const Operand& operand = inputs_[i];
    const int extra = shapes[i]->ndim() - static_cast<int>(operand.words.size());
    for (int d = 0; d < extra; ++d) {
      // Leading dims are counted from the innermost one, so that shorter operands broadcast.
      std::int64_t& known = extents.extent[extents.letters - extra + d];
      const std::int64_t extent = (*shapes[i])[d];
      check(known == 1 || extent == 1 || known == extent,
            "{}: dim {} of operand {} is {}, which does not broadcast with {}", op, d, i, extent,
            known);
      if (extent != 1) known = extent;
    }
    for (std::size_t w = 0; w < operand.words.size(); ++w) {
      std::int64_t& known = extents.extent[operand.words[w].letter];
      const std::int64_t extent = (*shapes[i])[extra + static_cast<int>(w)];
      check(known == -1 || known == extent, "{}: {} is {} in operand {}, but {} before", op,
            names_[operand.words[w].letter], extent, i, known);
      known = extent;
    }
  }
  return extents;
}

Shape Signature::output_shape(const Extents& extents, int output) const {
  const Operand& operand = outputs_[output];
  Shape shape;
  if (operand.leading)
    for (int l = static_cast<int>(names_.size()); l < extents.letters; ++l)
      shape.push_back(extents.extent[l]);
  for (const Word& word : operand.words) shape.push_back(extents.extent[word.letter]);
  return shape;
}

Placing Signature::bind(const char* op, std::span<const Shape* const> shapes) const {
  const Extents extents = check_shapes(op, shapes);
  const int named = static_cast<int>(names_.size());
  Placing placing;
  for (int l = 0; l < extents.letters; ++l) placing.add(extents.extent[l]);
  for (int i = 0; i < inputs(); ++i) {
    const Operand& operand = inputs_[i];
    const int extra = shapes[i]->ndim() - static_cast<int>(operand.words.size());
    for (int d = 0; d < extra; ++d) {
      const int letter = extents.letters - extra + d;
      // An extent of 1 that is broadcast carries nothing that could be cut.
      if ((*shapes[i])[d] == extents.extent[letter]) placing.input[i][d].letter = letter;
    }
    for (std::size_t w = 0; w < operand.words.size(); ++w) {
      placing.input[i][extra + w].letter = operand.words[w].letter;
      placing.letter[operand.words[w].letter].whole |= operand.words[w].whole;
    }
  }
  for (int o = 0; o < outputs(); ++o) {
    const Operand& operand = outputs_[o];
    const int extra = operand.leading ? extents.letters - named : 0;
    for (int d = 0; d < extra; ++d) placing.output[o][d].letter = named + d;
    for (std::size_t w = 0; w < operand.words.size(); ++w) {
      placing.output[o][extra + w].letter = operand.words[w].letter;
      placing.letter[operand.words[w].letter].whole |= operand.words[w].whole;
    }
  }
  return placing;
}

std::int64_t Signature::Extents::product() const {
  std::int64_t product = 1;
  for (int l = 0; l < letters; ++l) product *= extent[l];
  return product;
}

}  // namespace shardlab
