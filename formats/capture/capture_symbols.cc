#include "formats/capture/capture_symbols.h"

#include <algorithm>
#include <map>

#include "formats/capture/byte_reader.h"
#include "formats/capture/byte_writer.h"
#include "formats/capture/capture_format.h"
#include "formats/capture/capture_sections.h"
#include "formats/capture/section_writer.h"

namespace memprof {
namespace {

namespace cf = capture_format;

// Every text once, in the order of its bytes.
std::map<std::string_view, uint64_t> NumberTexts(const StoredSymbols& symbols) {
  std::map<std::string_view, uint64_t> numbers;
  for (const std::string& note : symbols.notes) numbers.emplace(note, 0);
  for (const SourceChain& chain : symbols.chains) {
    for (const SourceFrame& frame : chain) {
      numbers.emplace(frame.function, 0);
      numbers.emplace(frame.file, 0);
    }
  }
  uint64_t next = 0;
  for (auto& entry : numbers) entry.second = next++;
  return numbers;
}

bool ReadNotes(ByteReader& in, const std::vector<std::string_view>& texts, size_t modules,
               std::vector<std::string>& notes, uint64_t& all_bytes) {
  if (in.CountOfItems(1) != modules) return false;
  std::vector<std::string_view> found;
  for (size_t i = 0; i < modules; ++i) {
    const uint64_t text = in.Varint();
    if (in.failed() || text >= texts.size()) return false;
    if ((all_bytes += texts[text].size()) > cf::kMaxSourceBytes) return false;
    found.push_back(texts[text]);
  }
  notes.assign(found.begin(), found.end());
  return true;
}

// Reads the lengths of the chains; their frames stay empty.
bool ReadLengths(ByteReader& in, size_t frames, std::vector<SourceChain>& chains) {
  if (in.CountOfItems(1) != frames) return false;
  uint64_t all = 0;
  for (size_t i = 0; i < frames; ++i) {
    const uint64_t length = in.Varint();
    // A source frame takes at least a byte in each of three columns.
    if (in.failed() || length > cf::kMaxSourceFrames || (all += length) > cf::kMaxSourceFrames ||
        all > in.remaining() / 3) {
      return false;
    }
    chains.emplace_back(length);
  }
  return true;
}

bool ReadTexts(ByteReader& in, const std::vector<std::string_view>& texts,
               std::string SourceFrame::*member, std::vector<SourceChain>& chains,
               uint64_t& all_bytes) {
  uint64_t text = 0;
  for (SourceChain& chain : chains) {
    for (SourceFrame& frame : chain) {
      if (in.Delta(text) >= texts.size() || in.failed()) return false;
      if ((all_bytes += texts[text].size()) > cf::kMaxSourceBytes) return false;
      frame.*member = texts[text];
    }
  }
  return true;
}

}  // namespace

Result<std::string> EncodeSymbols(const StoredSymbols& symbols) {
  const auto numbers = NumberTexts(symbols);
  ByteWriter out;
  out.Varint(numbers.size());
  for (const auto& entry : numbers) out.String(entry.first);
  out.Varint(symbols.notes.size());
  uint64_t bytes = 0;
  for (const std::string& note : symbols.notes) {
    out.Varint(numbers.at(note));
    bytes += note.size();
  }
  out.Varint(symbols.chains.size());
  uint64_t frames = 0;
  for (const SourceChain& chain : symbols.chains) {
    out.Varint(chain.size());
    frames += chain.size();
  }
  for (const auto member : {&SourceFrame::function, &SourceFrame::file}) {
    uint64_t text = 0;
    for (const SourceChain& chain : symbols.chains) {
      for (const SourceFrame& frame : chain) {
        out.Delta(numbers.at(frame.*member), text);
        bytes += (frame.*member).size();
      }
    }
  }
  uint64_t line = 0;
  for (const SourceChain& chain : symbols.chains) {
    for (const SourceFrame& frame : chain) out.Delta(frame.line, line);
  }
  if (frames > cf::kMaxSourceFrames || bytes > cf::kMaxSourceBytes ||
      out.bytes().size() > cf::kMaxRawBytes) {
    return Fail(ErrorKind::kUsage, "it has more names than a capture holds");
  }
  return out.bytes();
}

bool DecodeSymbols(std::string_view raw, size_t modules, size_t frames, StoredSymbols& symbols) {
  ByteReader in(raw);
  std::vector<std::string_view> texts(in.CountOfItems(1));
  for (std::string_view& text : texts) text = in.String();
  uint64_t bytes = 0;
  if (in.failed() || !ReadNotes(in, texts, modules, symbols.notes, bytes) ||
      !ReadLengths(in, frames, symbols.chains) ||
      !ReadTexts(in, texts, &SourceFrame::function, symbols.chains, bytes) ||
      !ReadTexts(in, texts, &SourceFrame::file, symbols.chains, bytes)) {
    return false;
  }
  uint64_t line = 0;
  for (SourceChain& chain : symbols.chains) {
    for (SourceFrame& frame : chain) {
      if (in.Delta(line) > UINT32_MAX || frame.function.empty()) return false;
      frame.line = static_cast<uint32_t>(line);
      frame.inlined = &frame != &chain.back();
    }
  }
  return !in.failed();
}

Result<std::string> WithSymbols(std::string_view capture, const StoredSymbols& symbols) {
  auto content = EncodeSymbols(symbols);
  if (!content) return content;
  ByteWriter out;
  out.Raw(capture.substr(0, cf::kFileHeaderBytes));
  uint64_t sections = 1;
  for (const CaptureSection& section : SplitSections(capture).sections) {
    if (section.type == cf::kSymbols) continue;
    out.Raw(capture.substr(section.file_offset, cf::kSectionHeaderBytes + section.stored_bytes));
    ++sections;
  }
  AppendSection(out, cf::kSymbols, *content);
  AppendEnd(out, sections);
  return out.bytes();
}

}  // namespace memprof
