#include "aggregator/unwind/expression.h"

namespace memprof {
namespace {

class Evaluator {
 public:
  Evaluator(ByteRange expression, const Registers& registers, const ReadableStack& stack)
      : expression_(expression),
        cursor_(expression, expression.begin),
        registers_(registers),
        stack_(stack) {}

  void Push(uintptr_t value) {
    if (depth_ == kExpressionDepth) return Fail();
    values_[depth_++] = value;
  }

  FullStep Run(uintptr_t& result) {
    for (uint32_t steps = 0; !cursor_.AtEnd() && outcome_ == FullStep::kStepped; ++steps) {
      if (steps == kExpressionSteps) return FullStep::kFailed;
      One(cursor_.U8());
      if (!cursor_.ok()) Fail();
    }
    if (outcome_ == FullStep::kStepped) result = Pop();
    return outcome_;
  }

 private:
  void Fail() {
    if (outcome_ == FullStep::kStepped) outcome_ = FullStep::kFailed;
  }

  uintptr_t Pop() {
    if (depth_ == 0) {
      Fail();
      return 0;
    }
    return values_[--depth_];
  }

  uintptr_t Peek(uint64_t below_top) {
    if (below_top >= depth_) {
      Fail();
      return 0;
    }
    return values_[depth_ - 1 - below_top];
  }

  void PushRegister(uint64_t reg, int64_t offset) {
    if (reg >= kRegisterCount || !registers_.Has(static_cast<uint32_t>(reg))) {
      outcome_ = FullStep::kUnknownRegister;
      return;
    }
    // Only PLT stubs use the pc. They are on a stack when a signal interrupts them, and then the pc
    // is kept as pc + 1.
    const uintptr_t value = registers_.value[reg] - (reg == kReturnAddress ? 1 : 0);
    Push(value + static_cast<uintptr_t>(offset));
  }

  void Dereference(uint64_t bytes) {
    const uintptr_t address = Pop();
    uintptr_t word = 0;
    if (bytes == 0 || bytes > 8 || !stack_.Read(address, word)) return Fail();
    Push(bytes == 8 ? word : word & ((uintptr_t{1} << (bytes * 8)) - 1));
  }

  void Branch(int16_t by, bool taken) {
    if (taken) cursor_.Jump(expression_, by);
  }

  template <typename Function>
  void Binary(Function function) {
    const uintptr_t top = Pop();
    const uintptr_t below = Pop();
    Push(static_cast<uintptr_t>(function(below, top)));
  }

  template <typename Function>
  void Compare(Function function) {
    Binary([&](uintptr_t below, uintptr_t top) {
      return function(static_cast<intptr_t>(below), static_cast<intptr_t>(top)) ? 1u : 0u;
    });
  }

  void One(uint8_t op) {
    if (op >= 0x30 && op <= 0x4f) return Push(op - 0x30u);  // lit0 … lit31
    if (op >= 0x70 && op <= 0x8f) return PushRegister(op - 0x70u, cursor_.Sleb());  // breg0 … 31
    if (op >= 0x03 && op <= 0x11) return Constant(op);
    if (op <= 0x18) return Shuffle(op);
    if (op <= 0x29 || op == 0x2f) return Control(op);
    if (op <= 0x2e) return Comparison(op);
    if (op == 0x92) {  // bregx
      const uint64_t reg = cursor_.Uleb();
      return PushRegister(reg, cursor_.Sleb());
    }
    if (op == 0x94) return Dereference(cursor_.U8());  // deref_size
    if (op != 0x96) Fail();                            // nop
  }

  void Constant(uint8_t op) {
    switch (op) {
      case 0x03:  // addr
      case 0x0e:  // const8u
      case 0x0f:  // const8s
        return Push(cursor_.Fixed<uint64_t>());
      case 0x06:  // deref
        return Dereference(8);
      case 0x08:
        return Push(cursor_.U8());
      case 0x09:
        return Push(static_cast<uintptr_t>(int64_t{cursor_.Fixed<int8_t>()}));
      case 0x0a:
        return Push(cursor_.Fixed<uint16_t>());
      case 0x0b:
        return Push(static_cast<uintptr_t>(int64_t{cursor_.Fixed<int16_t>()}));
      case 0x0c:
        return Push(cursor_.Fixed<uint32_t>());
      case 0x0d:
        return Push(static_cast<uintptr_t>(int64_t{cursor_.Fixed<int32_t>()}));
      case 0x10:
        return Push(cursor_.Uleb());
      case 0x11:
        return Push(static_cast<uintptr_t>(cursor_.Sleb()));
      default:
        return Fail();
    }
  }

  void Shuffle(uint8_t op) {
    switch (op) {
      case 0x12:  // dup
        return Push(Peek(0));
      case 0x13:  // drop
        Pop();
        return;
      case 0x14:  // over
        return Push(Peek(1));
      case 0x15:  // pick
        return Push(Peek(cursor_.U8()));
      case 0x16: {  // swap
        const uintptr_t a = Pop();
        const uintptr_t b = Pop();
        Push(a);
        return Push(b);
      }
      case 0x17: {  // rot
        const uintptr_t a = Pop();
        const uintptr_t b = Pop();
        const uintptr_t c = Pop();
        Push(a);
        Push(c);
        return Push(b);
      }
      default:
        return Fail();
    }
  }

  void Control(uint8_t op) {
    using U = uintptr_t;
    switch (op) {
      case 0x19: {  // abs
        const auto value = static_cast<intptr_t>(Pop());
        return Push(value < 0 ? 0 - static_cast<U>(value) : static_cast<U>(value));
      }
      case 0x1a:
        return Binary([](U a, U b) { return a & b; });
      case 0x1b: {  // div, signed
        const auto divisor = static_cast<intptr_t>(Pop());
        const auto dividend = static_cast<intptr_t>(Pop());
        if (divisor == 0 || (divisor == -1 && dividend == INTPTR_MIN)) return Fail();
        return Push(static_cast<U>(dividend / divisor));
      }
      case 0x1c:
        return Binary([](U a, U b) { return a - b; });
      case 0x1d: {  // mod
        const U divisor = Pop();
        const U dividend = Pop();
        return divisor == 0 ? Fail() : Push(dividend % divisor);
      }
      case 0x1e:
        return Binary([](U a, U b) { return a * b; });
      case 0x1f:
        return Push(0 - Pop());
      case 0x20:
        return Push(~Pop());
      case 0x21:
        return Binary([](U a, U b) { return a | b; });
      case 0x22:
        return Binary([](U a, U b) { return a + b; });
      case 0x23: {  // plus_uconst
        const U value = Pop();
        return Push(value + cursor_.Uleb());
      }
      case 0x24:
        return Binary([](U a, U b) { return b < 64 ? a << b : 0; });
      case 0x25:
        return Binary([](U a, U b) { return b < 64 ? a >> b : 0; });
      case 0x26:  // shra
        return Binary(
            [](U a, U b) { return static_cast<U>(static_cast<intptr_t>(a) >> (b < 64 ? b : 63)); });
      case 0x27:
        return Binary([](U a, U b) { return a ^ b; });
      case 0x28:    // bra
      case 0x2f: {  // skip
        const auto by = cursor_.Fixed<int16_t>();
        return Branch(by, op == 0x2f || Pop() != 0);
      }
      case 0x29:
        return Compare([](intptr_t a, intptr_t b) { return a == b; });
      default:
        return Fail();
    }
  }

  void Comparison(uint8_t op) {
    switch (op) {
      case 0x2a:
        return Compare([](intptr_t a, intptr_t b) { return a >= b; });
      case 0x2b:
        return Compare([](intptr_t a, intptr_t b) { return a > b; });
      case 0x2c:
        return Compare([](intptr_t a, intptr_t b) { return a <= b; });
      case 0x2d:
        return Compare([](intptr_t a, intptr_t b) { return a < b; });
      default:
        return Compare([](intptr_t a, intptr_t b) { return a != b; });
    }
  }

  const ByteRange expression_;
  ByteCursor cursor_;
  const Registers& registers_;
  const ReadableStack& stack_;
  FullStep outcome_ = FullStep::kStepped;
  uint32_t depth_ = 0;
  uintptr_t values_[kExpressionDepth];
};

}  // namespace

FullStep EvaluateExpression(ByteRange expression, const Registers& registers,
                            const ReadableStack& stack, bool has_initial, uintptr_t initial,
                            uintptr_t& result) {
  Evaluator evaluator(expression, registers, stack);
  if (has_initial) evaluator.Push(initial);
  return evaluator.Run(result);
}

}  // namespace memprof
