// The accounts in which threads count while the heap is far below its peak
// (aggregator/tables/peak_tracker.h has the rules). They are a part of the region.
//
// While the ordering word is far it names a generation. The generation began with `base` live
// bytes, and what has been added since is in the accounts that have its tag:
//
//   live bytes = base + Σ sums of the accounts with the tag of the generation
//
//   account   sum 32, signed       | tag 30 | joined | open
//   pool      bytes that are left 32 | tag 30 | 0      | 0
//
// A generation is 40 bits: the number of the slot that began it (10), and how many that slot has
// begun (30). The tag is the number of the slot and the lower 20 bits of the rest.
#pragma once

#include <atomic>
#include <cstdint>

namespace memprof {

inline constexpr unsigned kSequenceBits = 30;
inline constexpr unsigned kTagSequenceBits = 20;
inline constexpr unsigned kSlotBits = 10;
inline constexpr unsigned kGenerationBits = kSlotBits + kSequenceBits;

inline constexpr uint64_t kAccountOpen = 1;    // its owner may go on counting in it
inline constexpr uint64_t kAccountJoined = 2;  // its owner has counted in it in this generation
inline constexpr uint64_t kTagMask = ((uint64_t{1} << (kSlotBits + kTagSequenceBits)) - 1) << 2;

// An account, and the generations that its slot begins, in turn: one that is being prepared never
// lies where the slot's last one is. The account is on a cache line of its own.
struct PeakGeneration {
  std::atomic<int64_t> base;
  std::atomic<uint64_t> pool;
  std::atomic<uint32_t> accounts;  // those with a smaller index take part
  std::atomic<uint32_t> active;    // number of accounts that had joined the one before
};
struct alignas(64) PeakAccount {
  std::atomic<uint64_t> account;
  alignas(64) PeakGeneration generations[2];
};
static_assert(sizeof(PeakAccount) == 128);

// The first account is for events without a slot; slot n has the account n + 1.
inline constexpr uint32_t kSharedAccount = 0;
inline constexpr uint32_t AccountOfSlot(uint32_t slot) { return slot + 1; }

inline constexpr uint64_t GenerationOf(uint32_t slot, uint32_t sequence) {
  return uint64_t{slot} << kSequenceBits | (sequence & ((1u << kSequenceBits) - 1));
}
inline constexpr uint32_t OpenerOf(uint64_t generation) {
  return static_cast<uint32_t>(generation >> kSequenceBits) & ((1u << kSlotBits) - 1);
}
// Where it lies in the opener's PeakAccount.
inline constexpr uint32_t PlaceOf(uint64_t generation) { return generation & 1; }
// In the place that it has in an account and in a pool.
inline constexpr uint64_t TagOf(uint64_t generation) {
  return (uint64_t{OpenerOf(generation)} << kTagSequenceBits |
          (generation & ((1u << kTagSequenceBits) - 1)))
         << 2;
}

inline constexpr int64_t AmountIn(uint64_t word) { return static_cast<int64_t>(word) >> 32; }
inline constexpr uint64_t AmountWord(int64_t amount, uint64_t bits) {
  return static_cast<uint64_t>(amount) << 32 | bits;
}

// What a generation began with, and how many accounts may take part in it. What is read may be foreign:
// there may be no such generation among `capacity` accounts, and sums are modulo 2^64.
struct GenerationStart {
  int64_t base = 0;
  uint32_t accounts = 0;
};
// `load` reads one of the accounts' words.
template <typename Load>
GenerationStart StartOf(const PeakAccount* accounts, uint32_t capacity, uint64_t generation,
                        Load load) {
  const uint32_t opener = AccountOfSlot(OpenerOf(generation));
  if (opener >= capacity) return {};
  const PeakGeneration& from = accounts[opener].generations[PlaceOf(generation)];
  const uint32_t count = load(from.accounts);
  return {load(from.base), count < capacity ? count : capacity};
}

// A sum of the accounts, and what tells how much they moved until a second one.
struct AccountSums {
  int64_t live = 0;  // the live bytes, if no account changed meanwhile
  uint64_t mix = 0;  // of the accounts' words: equal if none has changed
  static constexpr uint32_t kParts = 16;
  int64_t parts[kParts] = {};  // of every 16th account
};

template <typename Load>
void SumAccounts(const PeakAccount* accounts, const GenerationStart& start, uint64_t generation,
                 Load load, AccountSums& sums) {
  sums = {};
  auto live = static_cast<uint64_t>(start.base);
  for (uint32_t i = 0; i < start.accounts; ++i) {
    const uint64_t account = load(accounts[i].account);
    if ((account & kTagMask) != TagOf(generation)) continue;
    const auto amount = static_cast<uint64_t>(AmountIn(account));
    live += amount;
    sums.mix = (sums.mix ^ account) * 0x9e3779b97f4a7c15u;
    int64_t& part = sums.parts[i % AccountSums::kParts];
    part = static_cast<int64_t>(static_cast<uint64_t>(part) + amount);
  }
  sums.live = static_cast<int64_t>(live);
}

// How much was added to and taken from the accounts between two sums, at least.
inline uint64_t MovedBetween(const AccountSums& a, const AccountSums& b) {
  uint64_t moved = 0;
  for (uint32_t i = 0; i < AccountSums::kParts; ++i) {
    const auto first = static_cast<uint64_t>(a.parts[i]);
    const auto second = static_cast<uint64_t>(b.parts[i]);
    moved += a.parts[i] < b.parts[i] ? second - first : first - second;
  }
  return moved;
}

inline constexpr auto kLoadAccount = [](const auto& word) {
  return word.load(std::memory_order_acquire);
};

}  // namespace memprof
