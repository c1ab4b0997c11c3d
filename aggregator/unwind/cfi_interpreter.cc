#include "aggregator/unwind/cfi_interpreter.h"

namespace memprof {
namespace {

struct CommonEntry {
  uint64_t code_alignment = 0;
  int64_t data_alignment = 0;
  uint64_t return_address_register = 0;
  uint8_t pointer_encoding = 0;  // absptr unless augmentation R says otherwise
  bool has_augmentation_data = false;
  bool signal_frame = false;
  uintptr_t instructions = 0;
  uintptr_t end = 0;
};

// Opens the record at `position`: the returned cursor is after the record's length, and ends where
// the record ends.
ByteCursor OpenRecord(ByteRange bytes, uintptr_t position) {
  ByteCursor cursor(bytes, position);
  const uint32_t length = cursor.Fixed<uint32_t>();
  if (length == 0 || length == 0xffffffffu) cursor.Fail();  // terminator; 64-bit DWARF
  cursor.Narrow(length);
  return cursor;
}

void ParseAugmentationData(ByteCursor& cursor, const char* letters, CommonEntry& entry) {
  for (const char* letter = letters; *letter != '\0' && cursor.ok(); ++letter) {
    switch (*letter) {
      case 'R':
        entry.pointer_encoding = cursor.U8();
        break;
      case 'L':
        cursor.U8();
        break;
      case 'P': {
        // The personality's address is not needed; `aligned` (0x50) has a width by its own rules.
        const uint8_t encoding = cursor.U8();
        if ((encoding & kPointerBaseMask) == 0x50) cursor.Fail();
        cursor.PointerValue(encoding);
        break;
      }
      case 'S':
        entry.signal_frame = true;
        break;
      case 'B':
        break;
      default:
        cursor.Fail();
    }
  }
}

bool ParseCommonEntry(ByteRange bytes, uintptr_t position, CommonEntry& entry) {
  ByteCursor cursor = OpenRecord(bytes, position);
  if (cursor.Fixed<uint32_t>() != 0) return false;  // not a CIE
  const uint8_t version = cursor.U8();
  if (version != 1 && version != 3) return false;
  char letters[8] = {};
  for (uint32_t i = 0;; ++i) {
    const uint8_t letter = cursor.U8();
    if (letter == 0) break;
    if (i + 1 >= sizeof(letters)) return false;
    letters[i] = static_cast<char>(letter);
  }
  entry.code_alignment = cursor.Uleb();
  entry.data_alignment = cursor.Sleb();
  entry.return_address_register = version == 1 ? cursor.U8() : cursor.Uleb();
  if (letters[0] == 'z') {
    entry.has_augmentation_data = true;
    const uint64_t length = cursor.Uleb();
    ByteCursor data = cursor;
    data.Narrow(length);
    ParseAugmentationData(data, letters + 1, entry);
    if (!data.ok()) return false;
    cursor.Skip(length);
  } else if (letters[0] != '\0') {
    return false;
  }
  entry.instructions = cursor.position();
  entry.end = cursor.position() + cursor.remaining();
  return cursor.ok() && entry.return_address_register == kReturnAddress;
}

// Reads an entry up to its instructions.
bool ParseFdeHead(ByteRange bytes, ByteCursor& cursor, CommonEntry& entry, uintptr_t& start,
                  uint64_t& length) {
  const uintptr_t id_position = cursor.position();
  const uint32_t id = cursor.Fixed<uint32_t>();
  if (!cursor.ok() || id == 0 || !ParseCommonEntry(bytes, id_position - id, entry)) return false;
  start = cursor.Pointer(entry.pointer_encoding, 0);
  length = cursor.PointerValue(entry.pointer_encoding & kPointerFormatMask);
  if (entry.has_augmentation_data) cursor.Skip(cursor.Uleb());
  return cursor.ok();
}

// The state machine of the instructions: first the CIE's, then the FDE's.
//
// DW_CFA_remember_state saves no row: that would be most of the stack that a capture needs. If the
// row is restored before the pc is reached, the instructions between only advanced the location,
// and they are skipped. If it isn't, nobody will ask for it.
class Machine {
 public:
  Machine(ByteRange bytes, const CommonEntry& entry, uintptr_t location, uintptr_t pc, CfiRow& row)
      : bytes_(bytes), entry_(entry), location_(location), pc_(pc), row_(row) {}

  bool unsupported() const { return unsupported_; }

  // DW_CFA_restore returns to the rules that the CIE's instructions left.
  void FinishInitialRules() {
    for (uint32_t i = 0; i < kRegisterCount; ++i) initial_[i] = row_.registers[i];
  }

  bool Run(ByteCursor cursor) {
    while (!cursor.AtEnd() && location_ <= pc_) {
      if (!One(cursor)) return false;
    }
    return cursor.ok();
  }

 private:
  bool One(ByteCursor& cursor) {
    const uint8_t byte = cursor.U8();
    const uint8_t operand = byte & 0x3f;
    switch (byte & 0xc0) {
      case 0x40:  // advance_loc
        return Advance(operand);
      case 0x80:  // offset
        return SetOffset(operand, static_cast<int64_t>(cursor.Uleb()), RuleKind::kOffset);
      case 0xc0:  // restore
        return Restore(operand);
      default:
        return Extended(operand, cursor);
    }
  }

  bool Extended(uint8_t opcode, ByteCursor& cursor) {
    switch (opcode) {
      case 0x00:  // nop
        return true;
      case 0x01:  // set_loc
        location_ = cursor.Pointer(entry_.pointer_encoding, 0);
        return cursor.ok();
      case 0x02:
        return Advance(cursor.U8());
      case 0x03:
        return Advance(cursor.Fixed<uint16_t>());
      case 0x04:
        return Advance(cursor.Fixed<uint32_t>());
      case 0x05:  // offset_extended
        return RegisterAndOffset(cursor, RuleKind::kOffset, false);
      case 0x06:  // restore_extended
        return Restore(cursor.Uleb());
      case 0x07:  // undefined
        return Set(cursor.Uleb(), {RuleKind::kUndefined, 0, 0});
      case 0x08:  // same_value
        return Set(cursor.Uleb(), {RuleKind::kSameValue, 0, 0});
      case 0x09: {  // register
        const uint64_t reg = cursor.Uleb();
        const uint64_t other = cursor.Uleb();
        return other < kRegisterCount &&
               Set(reg, {RuleKind::kRegister, 0, static_cast<int32_t>(other)});
      }
      case 0x0a:
        return Remember(cursor);
      case 0x0b:
        return RestoreState();
      case 0x0c: {  // def_cfa
        const uint64_t reg = cursor.Uleb();
        return SetCfa(reg, static_cast<int64_t>(cursor.Uleb()));
      }
      case 0x0d:  // def_cfa_register
        return SetCfaRegister(cursor.Uleb());
      case 0x0e:  // def_cfa_offset
        return SetCfaOffset(static_cast<int64_t>(cursor.Uleb()));
      case 0x0f: {  // def_cfa_expression
        RegisterRule rule;
        if (!Expression(cursor, RuleKind::kExpression, rule)) return false;
        if (skipped_rows_ > 0) return true;
        row_.cfa_kind = CfaKind::kExpression;
        row_.cfa_offset = rule.value;
        row_.cfa_expression_bytes = rule.expression_bytes;
        return true;
      }
      case 0x10:  // expression
        return RegisterAndExpression(cursor, RuleKind::kExpression);
      case 0x11:  // offset_extended_sf
        return RegisterAndOffset(cursor, RuleKind::kOffset, true);
      case 0x12: {  // def_cfa_sf
        const uint64_t reg = cursor.Uleb();
        return SetCfa(reg, Factored(cursor.Sleb()));
      }
      case 0x13:  // def_cfa_offset_sf
        return SetCfaOffset(Factored(cursor.Sleb()));
      case 0x14:  // val_offset
        return RegisterAndOffset(cursor, RuleKind::kValOffset, false);
      case 0x15:  // val_offset_sf
        return RegisterAndOffset(cursor, RuleKind::kValOffset, true);
      case 0x16:  // val_expression
        return RegisterAndExpression(cursor, RuleKind::kValExpression);
      case 0x2e:  // GNU_args_size
        cursor.Uleb();
        return true;
      case 0x2f: {  // GNU_negative_offset_extended
        const uint64_t reg = cursor.Uleb();
        return SetOffset(reg, static_cast<int64_t>(0 - cursor.Uleb()), RuleKind::kOffset);
      }
      default:
        return false;
    }
  }

  // Malformed CFI may ask for any product; unsigned arithmetic wraps, SetOffset checks the range.
  int64_t Factored(int64_t value) const {
    return static_cast<int64_t>(static_cast<uint64_t>(value) *
                                static_cast<uint64_t>(entry_.data_alignment));
  }

  bool Advance(uint64_t delta) {
    location_ += delta * entry_.code_alignment;
    return true;
  }

  bool Set(uint64_t reg, RegisterRule rule) {
    // Vector and other registers are not needed.
    if (reg < kRegisterCount && skipped_rows_ == 0) row_.registers[reg] = rule;
    return true;
  }

  bool SetOffset(uint64_t reg, int64_t unfactored, RuleKind kind) {
    const int64_t offset = Factored(unfactored);
    if (offset < INT32_MIN || offset > INT32_MAX) return false;
    return Set(reg, {kind, 0, static_cast<int32_t>(offset)});
  }

  bool RegisterAndOffset(ByteCursor& cursor, RuleKind kind, bool is_signed) {
    const uint64_t reg = cursor.Uleb();
    const int64_t offset = is_signed ? cursor.Sleb() : static_cast<int64_t>(cursor.Uleb());
    return SetOffset(reg, offset, kind);
  }

  bool SetCfa(uint64_t reg, int64_t offset) {
    if (reg >= kRegisterCount) return false;
    if (skipped_rows_ > 0) return true;
    row_.cfa_kind = CfaKind::kRegisterOffset;
    row_.cfa_register = static_cast<uint32_t>(reg);
    row_.cfa_offset = offset;
    return true;
  }

  // Changes the current CFA, which isn't known while rows are skipped.
  bool SetCfaRegister(uint64_t reg) {
    if (skipped_rows_ > 0) return true;
    return row_.cfa_kind == CfaKind::kRegisterOffset && SetCfa(reg, row_.cfa_offset);
  }

  bool SetCfaOffset(int64_t offset) {
    if (skipped_rows_ > 0) return true;
    return row_.cfa_kind == CfaKind::kRegisterOffset && SetCfa(row_.cfa_register, offset);
  }

  bool Expression(ByteCursor& cursor, RuleKind kind, RegisterRule& rule) {
    const uint64_t length = cursor.Uleb();
    const uintptr_t offset = cursor.position() - bytes_.begin;
    cursor.Skip(length);
    if (!cursor.ok() || length > UINT16_MAX || offset > INT32_MAX) return false;
    rule = {kind, static_cast<uint16_t>(length), static_cast<int32_t>(offset)};
    return true;
  }

  bool RegisterAndExpression(ByteCursor& cursor, RuleKind kind) {
    const uint64_t reg = cursor.Uleb();
    RegisterRule rule;
    return Expression(cursor, kind, rule) && Set(reg, rule);
  }

  bool Restore(uint64_t reg) {
    if (reg < kRegisterCount && skipped_rows_ == 0) row_.registers[reg] = initial_[reg];
    return true;
  }

  // Moves after the instruction that restores the current row, if the pc is after it as well.
  bool Remember(ByteCursor& cursor) {
    if (skipped_rows_ > 0) {
      ++skipped_rows_;
      return true;
    }
    const ByteCursor here = cursor;
    const uintptr_t location = location_;
    skipped_rows_ = 1;
    while (skipped_rows_ > 0 && !cursor.AtEnd() && location_ <= pc_) {
      if (!One(cursor)) return false;
    }
    if (skipped_rows_ == 0) return true;
    skipped_rows_ = 0;
    cursor = here;
    location_ = location;
    unsupported_ = open_rows_++ == kOpenRows;
    return !unsupported_;
  }

  bool RestoreState() {
    // Remember finds every restore that has a row to restore.
    if (skipped_rows_ == 0) return false;
    --skipped_rows_;
    return true;
  }

  const ByteRange bytes_;
  const CommonEntry& entry_;
  uintptr_t location_;
  const uintptr_t pc_;
  CfiRow& row_;
  bool unsupported_ = false;
  uint32_t skipped_rows_ = 0;  // rows remembered within the skipped part; 0: nothing is skipped
  uint32_t open_rows_ = 0;     // rows remembered before the pc and not restored before it
  RegisterRule initial_[kRegisterCount];
};

}  // namespace

CfiResult FindFde(ByteRange header_bytes, uintptr_t header, uintptr_t pc, uintptr_t& fde) {
  ByteCursor cursor(header_bytes, header);
  const uint8_t version = cursor.U8();
  const uint8_t frame_encoding = cursor.U8();
  const uint8_t count_encoding = cursor.U8();
  const uint8_t table_encoding = cursor.U8();
  if (!cursor.ok() || version != 1) return CfiResult::kMalformed;
  // All linkers use this encoding, if they write a table at all.
  if (count_encoding == kPointerOmitted || table_encoding != (kPointerRelativeToData | 0x0b)) {
    return CfiResult::kUnsupported;
  }
  cursor.Pointer(frame_encoding, header);
  const uint64_t count = cursor.Pointer(count_encoding, header);
  if (!cursor.ok() || count > cursor.remaining() / 8) return CfiResult::kMalformed;
  if (count == 0) return CfiResult::kNoData;

  const uintptr_t table = cursor.position();
  const auto entry = [&](uint64_t index, uint64_t field) {
    int32_t value;
    __builtin_memcpy(&value, reinterpret_cast<const void*>(table + index * 8 + field * 4), 4);
    return header + static_cast<uintptr_t>(int64_t{value});
  };
  uint64_t first = 0;  // the answer is in [first, first + length)
  for (uint64_t length = count; length > 1;) {
    const uint64_t half = length / 2;
    if (entry(first + half, 0) <= pc) first += half;
    length -= half;
  }
  if (entry(first, 0) > pc) return CfiResult::kNoData;
  fde = entry(first, 1);
  return CfiResult::kFound;
}

bool ExtentOfFde(ByteRange bytes, uintptr_t fde, ByteRange& code) {
  ByteCursor cursor = OpenRecord(bytes, fde);
  CommonEntry entry;
  uintptr_t start = 0;
  uint64_t length = 0;
  if (!ParseFdeHead(bytes, cursor, entry, start, length) || length > ~start) return false;
  code = {start, start + length};
  return true;
}

CfiResult InterpretFde(ByteRange bytes, uintptr_t fde, uintptr_t pc, CfiRow& row) {
  ByteCursor cursor = OpenRecord(bytes, fde);
  CommonEntry entry;
  uintptr_t start = 0;
  uint64_t length = 0;
  if (!ParseFdeHead(bytes, cursor, entry, start, length)) return CfiResult::kMalformed;
  if (pc - start >= length) return CfiResult::kNoData;

  row = CfiRow{};
  row.signal_frame = entry.signal_frame;
  Machine machine(bytes, entry, start, pc, row);
  bool ran = machine.Run(ByteCursor({entry.instructions, entry.end}, entry.instructions));
  if (ran) {
    machine.FinishInitialRules();
    ran = machine.Run(cursor);
  }
  if (machine.unsupported()) return CfiResult::kUnsupported;
  return ran && row.cfa_kind != CfaKind::kNone ? CfiResult::kFound : CfiResult::kMalformed;
}

}  // namespace memprof
