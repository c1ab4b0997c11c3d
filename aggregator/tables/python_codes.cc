#include "aggregator/tables/python_codes.h"

#include <cstring>

#include "aggregator/basics/private_memory.h"

namespace memprof {
namespace {

// FNV-1a.
struct Hash {
  uint64_t value = 0xcbf29ce484222325ull;
  void operator()(const unsigned char* bytes, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) value = (value ^ bytes[i]) * 0x100000001b3ull;
  }
  uint64_t Mixed() const {
    const uint64_t mixed = (value ^ value >> 32) * 0x9e3779b97f4a7c15ull;
    return mixed ^ mixed >> 29;
  }
};

// Compares what it is given with bytes that are kept.
struct Comparison {
  const char* kept;
  uint32_t left;
  bool equal = true;
  void operator()(const unsigned char* bytes, uint32_t count) {
    if (!equal || count > left || memcmp(kept, bytes, count) != 0) {
      equal = false;
      return;
    }
    kept += count;
    left -= count;
  }
  bool IsEqual() const { return equal && left == 0; }
};

struct Writer {
  char* to;
  uint32_t left;  // the text may not have changed, but nothing is written behind its room
  void operator()(const unsigned char* bytes, uint32_t count) {
    if (count > left) return;
    memcpy(to, bytes, count);
    to += count;
    left -= count;
  }
};

// Calls the functions of code_object.h with a sink that is kept by the caller.
template <typename Sink>
uint32_t ReadFile(const InterpreterMemory& memory, const CodeObject& code, Sink& sink) {
  return ReadText(memory, code.file, kLongestPythonFile,
                  [&](const unsigned char* b, uint32_t n) { sink(b, n); });
}
template <typename Sink>
uint32_t ReadName(const InterpreterMemory& memory, const CodeObject& code, Sink& sink) {
  return ReadText(memory, code.name, kLongestPythonName,
                  [&](const unsigned char* b, uint32_t n) { sink(b, n); });
}
template <typename Sink>
uint32_t ReadTable(const InterpreterMemory& memory, const CodeObject& code, Sink& sink) {
  return ReadLines(memory, code, kLongestPythonLines,
                   [&](const unsigned char* b, uint32_t n) { sink(b, n); });
}

}  // namespace

void PythonCodes::Stop() {
  if (entries_ != nullptr) UnmapMemory(entries_, kEntries * sizeof(Entry));
  entries_ = nullptr;
  contents_.Destroy();
  files_.Destroy();
  used_.store(0, std::memory_order_relaxed);
  for (auto& word : touched_) word.store(0, std::memory_order_relaxed);
}

bool PythonCodes::Start() {
  Stop();
  entries_ = static_cast<Entry*>(MapMemory(kEntries * sizeof(Entry)));
  return entries_ != nullptr;
}

PythonCodes::Entry* PythonCodes::Place(uintptr_t address) const {
  if (entries_ == nullptr) return nullptr;
  uint32_t at = static_cast<uint32_t>(address * 0x9e3779b97f4a7c15ull >> 40) % kEntries;
  for (uint32_t i = 0; i < kEntries; ++i, at = (at + 1) % kEntries) {
    const uintptr_t there = entries_[at].address.load(std::memory_order_acquire);
    if (there == address || there == 0) return &entries_[at];
  }
  return nullptr;
}

PythonCodes::Entry* PythonCodes::NewPlace(uintptr_t address) {
  for (;;) {
    Entry* const entry = Place(address);
    if (entry == nullptr) return nullptr;
    uintptr_t there = entry->address.load(std::memory_order_acquire);
    if (there == address) return entry;
    if (used_.load(std::memory_order_relaxed) >= kMostEntries) return nullptr;
    if (!entry->address.compare_exchange_strong(there, address, std::memory_order_acq_rel)) {
      continue;  // another thread took the place
    }
    used_.fetch_add(1, std::memory_order_relaxed);
    const auto page =
        static_cast<uint32_t>(entry - entries_) / static_cast<uint32_t>(kPageBytes / sizeof(Entry));
    const uint64_t bit = uint64_t{1} << page % 64;
    static_assert(kEntries * sizeof(Entry) / kPageBytes == 64 * 4);
    if ((touched_[page / 64].fetch_or(bit, std::memory_order_relaxed) & bit) == 0) {
      CountPrivateBytes(kPageBytes);
    }
    return entry;
  }
}

uint32_t PythonCodes::Find(uintptr_t address) const {
  const Entry* const entry = Place(address);
  if (entry == nullptr || entry->address.load(std::memory_order_acquire) != address) return kNone;
  return entry->record_plus_one.load(std::memory_order_acquire) - 1;
}

uint32_t PythonCodes::Enter(const InterpreterLayout& layout, const InterpreterMemory& memory,
                            uintptr_t address, const CodeObject& code) {
  const uint32_t record = RecordOf(layout, memory, code);
  if (record == kNone) return kNone;
  Entry* const entry = NewPlace(address);
  if (entry != nullptr) entry->record_plus_one.store(record + 1, std::memory_order_release);
  return record;
}

bool PythonCodes::Forget(uintptr_t address) {
  Entry* const entry = Place(address);
  if (entry == nullptr || entry->address.load(std::memory_order_acquire) != address) return false;
  return entry->record_plus_one.exchange(0, std::memory_order_acq_rel) != 0;
}

// The texts are read twice or three times: they never change, and a copy would need room.
uint32_t PythonCodes::RecordOf(const InterpreterLayout& layout, const InterpreterMemory& memory,
                               const CodeObject& code) {
  Hash hash;
  const uint32_t file_bytes = ReadFile(memory, code, hash);
  const uint64_t file_hash = hash.Mixed();
  const uint32_t name_bytes = ReadName(memory, code, hash);
  const uint32_t lines_bytes = ReadTable(memory, code, hash);
  hash(reinterpret_cast<const unsigned char*>(&code.first_line), sizeof code.first_line);
  auto* const records = region_.Records<PythonCodeRecord>(Table::kPythonCodes);
  char* const bytes = region_.Records<char>(Table::kPythonBytes);
  const auto has_file = [&](const PythonCodeRecord& record) {
    Comparison file = {bytes + record.file_offset, record.file_bytes};
    ReadFile(memory, code, file);
    return file.IsEqual();
  };
  const uint32_t known = contents_.Find(hash.Mixed(), [&](uint32_t id) {
    const PythonCodeRecord& record = records[id];
    if (record.first_line != code.first_line || !has_file(record)) return false;
    Comparison name = {bytes + record.name_offset, record.name_bytes};
    ReadName(memory, code, name);
    Comparison lines = {bytes + record.lines_offset, record.lines_bytes};
    ReadTable(memory, code, lines);
    return name.IsEqual() && lines.IsEqual();
  });
  if (known != InternIndex::kNone) return known;
  if (!contents_.HasRoom()) return kNone;
  const uint32_t same_file =
      files_.Find(file_hash, [&](uint32_t id) { return has_file(records[id]); });
  const uint32_t own = name_bytes + lines_bytes;
  const uint32_t more = same_file == InternIndex::kNone ? file_bytes : 0;
  const uint32_t place = own + more != 0 ? region_.Take(Table::kPythonBytes, own + more) : 0;
  const uint32_t id = place != kNoRecord ? region_.Take(Table::kPythonCodes) : kNoRecord;
  if (id == kNoRecord) return kNone;
  PythonCodeRecord& record = records[id];
  record.name_offset = place;
  record.name_bytes = name_bytes;
  Writer name = {bytes + place, name_bytes};
  ReadName(memory, code, name);
  record.lines_offset = place + name_bytes;
  record.lines_bytes = lines_bytes;
  Writer lines = {bytes + record.lines_offset, lines_bytes};
  ReadTable(memory, code, lines);
  record.file_bytes = file_bytes;
  if (more == 0 && same_file != InternIndex::kNone) {
    record.file_offset = records[same_file].file_offset;
  } else {
    record.file_offset = place + own;
    Writer file = {bytes + record.file_offset, file_bytes};
    ReadFile(memory, code, file);
  }
  record.first_line = code.first_line;
  record.lines = static_cast<uint32_t>(lines_bytes != 0 ? layout.lines : PythonLines::kNone);
  record.filled.store(1, std::memory_order_release);
  contents_.Insert(hash.Mixed(), id);
  if (more != 0) files_.Insert(file_hash, id);
  return id;
}

}  // namespace memprof
