// Allocations inside the standard library's templates belong to the line that caused them.
//
// vector<int>: 1, 2, 4, 8 and 16 elements as it grows by push_back: 4+8+16+32+64 bytes, 5 blocks.
// reserve(1000): 4000 bytes. A string of 100 characters: 101 bytes. unique_ptr: 24 bytes.
// deque<char>: a map of 8 pointers and one node of 512 bytes.
//
// SITE function=PushBacks line=@push    peak=64/1   leaked=64/1   total=124/5
// SITE function=Reserves  line=@reserve peak=4000/1 leaked=4000/1 total=4000/1
// SITE function=Strings   line=@string  peak=101/1  leaked=101/1  total=101/1
// SITE function=Owners    line=@unique  peak=24/1   leaked=24/1   total=24/1
// SITE function=Queues    line=@deque   peak=576/2  leaked=576/2  total=576/2
// SITE function=Top       line=@top     peak=9000/1 leaked=0/0    total=9000/1
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <vector>

struct Triple {
  long a, b, c;
};

// Never destroyed: what they hold leaks.
alignas(64) static char storage[5][128];

static void PushBacks() {
  auto* v = new (storage[0]) std::vector<int>;
  for (int i = 0; i < 10; ++i) v->push_back(i);  // @push
}
static void Reserves() {
  auto* v = new (storage[1]) std::vector<int>;
  v->reserve(1000);  // @reserve
}
static void Strings() {
  new (storage[2]) std::string(100, 'x');  // @string
}
static void Owners() {
  auto* p = new (storage[3]) std::unique_ptr<Triple>;
  *p = std::make_unique<Triple>();  // @unique
}
static void Queues() {
  new (storage[4]) std::deque<char>;  // @deque
}
static void Top() {
  std::vector<char> v(9000);  // @top
}

int main() {
  PushBacks();
  Reserves();
  Strings();
  Owners();
  Queues();
  Top();
  return 0;
}
