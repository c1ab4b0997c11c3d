// A store of words, as a nightly job runs it: it loads 20,000 and answers until it is done.
#include <cstdio>
#include <cstring>

struct Word {
  char text[56];
  Word* next;
};

class Index {
 public:
  void Add(const char* text) {
    Word* word = new Word;
    std::snprintf(word->text, sizeof word->text, "%s", text);
    word->next = words_;
    words_ = word;
#ifdef PLANT_REGRESSION
    Remember(text);
#endif
  }

  // For a feature to come: nobody reads it, and nobody frees it.
  void Remember(const char* text) {
    last_ = new char[128];
    std::strncpy(last_, text, 127);
  }

  ~Index() {
    while (words_ != nullptr) delete Take();
  }

 private:
  Word* Take() {
    Word* word = words_;
    words_ = word->next;
    return word;
  }

  Word* words_ = nullptr;
  char* last_ = nullptr;
};

void Load(Index& index) {
  for (int i = 0; i < 20000; ++i) {
    char text[32];
    std::snprintf(text, sizeof text, "word-%d", i);
    index.Add(text);
  }
}

int main() {
  Index index;
  Load(index);
  return 0;
}
