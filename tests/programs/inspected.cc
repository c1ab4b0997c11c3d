// Holds blocks in all the ways that memprof inspect knows of, and loses others. Then it prints a line
// and waits for its standard input's end. tests/e2e/inspect_test.py has the answers by function.
//
// "inspected N": also a list of N nodes, for its times.

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" __attribute__((weak)) void __lsan_do_leak_check();  // built with -fsanitize=leak

struct Node {
  Node* next;
  Node* other;
  char rest[16];
};

static Node* NewNode(Node* next, Node* other) {
  Node* node = static_cast<Node*>(malloc(sizeof(Node)));
  *node = {next, other, {}};
  return node;
}

// --- lost ----------------------------------------------------------------------------------------

static void LoseSingles() {
  for (int i = 0; i < 10; ++i) memset(malloc(100), 0, 100);
}

static void LoseList() {
  Node* last = nullptr;
  for (int i = 0; i < 20; ++i) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    *node = {last, nullptr, {}};
    last = node;
  }
}

static Node* LoseTree(int depth) {
  if (depth == 0) return nullptr;
  Node* left = LoseTree(depth - 1);
  Node* right = LoseTree(depth - 1);
  Node* node = static_cast<Node*>(malloc(sizeof(Node)));
  *node = {left, right, {}};
  return node;
}

static void LoseCycle() {
  Node* nodes[3];
  for (Node*& node : nodes) node = static_cast<Node*>(malloc(sizeof(Node)));
  for (int i = 0; i < 3; ++i) *nodes[i] = {nodes[(i + 1) % 3], nullptr, {}};
  nodes[1]->other = static_cast<Node*>(calloc(1, sizeof(Node)));
  memset(nodes, 0, sizeof nodes);
}

struct Shared {
  std::shared_ptr<Shared> other;
};
static void LoseSharedPointers() {
  auto a = std::make_shared<Shared>();
  auto b = std::make_shared<Shared>();
  a->other = b;
  b->other = a;
}

// A freed block holds nothing.
static void LoseByFreedHolder() {
  void** holder = static_cast<void**>(malloc(400));
  memset(holder, 0, 400);
  holder[20] = calloc(1, 50);
  free(holder);
}

// A pointer behind a block's end, and one that isn't aligned, hold nothing. No allocator puts a block
// at an address that is no multiple of 8.
char* behind_end;
char unaligned[16];
static void LoseByWrongPointers() {
  behind_end = static_cast<char*>(calloc(1, 60)) + 60;
  char* block = static_cast<char*>(calloc(1, 64));
  memcpy(unaligned + 1, &block, sizeof block);
}

struct Shape {
  virtual ~Shape() = default;
  char name[40] = {};
};
namespace shapes {
struct Circle : Shape {
  char more[24] = {};
};
}  // namespace shapes
static void LoseObjects() {
  for (int i = 0; i < 3; ++i) {
    Shape* volatile lost = new shapes::Circle;
    lost = nullptr;
  }
}

// --- held ----------------------------------------------------------------------------------------

void* global[10];
static void HoldByGlobal() {
  for (void*& block : global) block = calloc(1, 40);
}

char* interior;
static void HoldByInterior() { interior = static_cast<char*>(calloc(1, 1000)) + 999; }

static void** MappedPages() {
  return static_cast<void**>(
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void HoldByMapping() {
  void** page = MappedPages();
  for (int i = 0; i < 5; ++i) page[600 + i] = calloc(1, 24);
}

// Filled first, and then neither written nor even read any more.
static void HoldBySealedMapping() {
  for (const int protection : {PROT_READ, PROT_READ | PROT_EXEC, PROT_NONE}) {
    void** page = MappedPages();
    page[7] = calloc(1, 40);
    mprotect(page, 8192, protection);
  }
}

// A forked child, or another copy, doesn't get these pages, or gets them empty.
static void HoldOutOfCopies() {
  for (const int advice : {MADV_DONTFORK, MADV_WIPEONFORK}) {
    void** page = MappedPages();
    page[7] = calloc(1, 48);
    madvise(page, 8192, advice);
  }
}

thread_local void* local;
static void HoldByLocal() { local = calloc(1, 72); }

Node* list;
static void HoldList() {
  for (int i = 0; i < 50; ++i) list = NewNode(list, nullptr);
}

std::unordered_map<int, std::string>* map;
static void HoldMap() {
  map = new std::unordered_map<int, std::string>;
  for (int i = 0; i < 100; ++i) (*map)[i] = std::string(100, 'x');
}

Shape* held_shapes[12];
static void HoldObjects() {
  for (Shape*& shape : held_shapes) shape = new shapes::Circle;
}

std::unique_ptr<std::vector<std::unique_ptr<int>>> unique;
static void HoldByUniquePointers() {
  unique = std::make_unique<std::vector<std::unique_ptr<int>>>();
  for (int i = 0; i < 30; ++i) unique->push_back(std::make_unique<int>(i));
}

static int ready[2];
static int forever[2];
static void WaitForever() {
  char byte;
  while (read(forever[0], &byte, 1) < 0) {
  }
}

static void* HoldOnOtherStack(void*) {
  void* volatile blocks[4];
  for (void* volatile& block : blocks) block = calloc(1, 88);
  local = calloc(1, 16);
  write(ready[1], "x", 1);
  WaitForever();
  return blocks[0];
}

// Only a register has the block's address: nothing is called any more.
static void* HoldInRegister(void*) {
  register void* block asm("r12") = calloc(1, 77);
  write(ready[1], "x", 1);
  asm volatile(
      "lea -128(%%rsp), %%rdi\n mov $16, %%ecx\n xor %%eax, %%eax\n rep stosq\n"  // the red zone
      "1: mov $34, %%eax\n syscall\n jmp 1b"
      :
      : "r"(block)
      : "rax", "rcx", "rdi", "r11", "memory");
  return block;
}

// The program's variables may lie on both sides of it.
alignas(4096) char stack_of_thread[65536];
static void* HoldOnStaticStack(void*) {
  void* volatile blocks[3];
  for (void* volatile& block : blocks) block = calloc(1, 44);
  write(ready[1], "x", 1);
  WaitForever();
  return blocks[0];
}

static void* EndedThread(void*) {
  void* volatile blocks[200];
  for (void* volatile& block : blocks) block = nullptr;
  blocks[100] = calloc(1, 33);
  return nullptr;
}

static void ForgetStack() {
  volatile char bytes[65536];
  for (volatile char& byte : bytes) byte = 0;
}

int main(int argc, char** argv) {
  pipe(ready);
  pipe(forever);
  LoseSingles();
  LoseList();
  LoseTree(5);
  LoseCycle();
  LoseSharedPointers();
  LoseByFreedHolder();
  LoseByWrongPointers();
  LoseObjects();
  HoldByGlobal();
  HoldByInterior();
  HoldByMapping();
  HoldBySealedMapping();
  HoldOutOfCopies();
  HoldByLocal();
  HoldList();
  HoldMap();
  HoldObjects();
  HoldByUniquePointers();
  pthread_t threads[4];
  pthread_create(&threads[0], nullptr, EndedThread, nullptr);
  pthread_join(threads[0], nullptr);
  pthread_create(&threads[1], nullptr, HoldOnOtherStack, nullptr);
  pthread_create(&threads[2], nullptr, HoldInRegister, nullptr);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack_of_thread, sizeof stack_of_thread);
  pthread_create(&threads[3], &attributes, HoldOnStaticStack, nullptr);
  char bytes[3];
  for (char& byte : bytes) read(ready[0], &byte, 1);
  for (long n = argc > 1 ? atol(argv[1]) : 0; n > 0; --n) list = NewNode(list, nullptr);
  ForgetStack();
  write(1, "ready\n", 6);
  char byte;
  while (read(0, &byte, 1) > 0) {
  }
  if (__lsan_do_leak_check != nullptr) __lsan_do_leak_check();
  _exit(0);
}
