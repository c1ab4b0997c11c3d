#include "aggregator/allocator/loaded_objects.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/loaded_symbols.h"

namespace memprof {
namespace {

// --- dependencies --------------------------------------------------------------------------------

class ObjectSet {
 public:
  bool Has(const link_map* object) const {
    return std::find(objects_, objects_ + size_, object) != objects_ + size_;
  }
  // Returns false if the object is in the set already, or doesn't fit.
  bool Add(const link_map* object) {
    if (size_ == kMost || Has(object)) return false;
    objects_[size_++] = object;
    return true;
  }
  size_t size() const { return size_; }
  const link_map* operator[](size_t i) const { return objects_[i]; }

 private:
  static constexpr size_t kMost = 256;
  const link_map* objects_[kMost];
  size_t size_ = 0;
};

bool IsNamed(const link_map& object, const char* needed) {
  const char* base = strrchr(object.l_name, '/');
  return strcmp(object.l_name, needed) == 0 || (base != nullptr && strcmp(base + 1, needed) == 0) ||
         strcmp(SonameOf(object), needed) == 0;
}

// Calls visit(name) for each dependency in the object's own order, until one returns true.
template <typename Visit>
bool AnyNeeded(const link_map& object, Visit visit) {
  const char* strings = StringsOf(object);
  if (strings == nullptr) return false;
  for (const Elf64_Dyn* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED && visit(strings + entry->d_un.d_val)) return true;
  }
  return false;
}

// The first loaded object among those that need `object`, and `object` itself.
const link_map* BroughtBy(const link_map* objects, const link_map* object) {
  ObjectSet needing;
  needing.Add(object);
  for (bool more = true; more;) {
    more = false;
    for (const link_map* other = objects; other != nullptr; other = other->l_next) {
      if (needing.Has(other)) continue;
      const bool needs = AnyNeeded(*other, [&](const char* name) {
        for (size_t i = 0; i < needing.size(); ++i) {
          if (IsNamed(*needing[i], name)) return true;
        }
        return false;
      });
      if (needs) more |= needing.Add(other);
    }
  }
  for (const link_map* other = objects; other != nullptr; other = other->l_next) {
    if (needing.Has(other)) return other;
  }
  return object;
}

// `root` and its dependencies, breadth first.
void FillScope(const link_map* objects, const link_map* root, ObjectSet& scope) {
  scope.Add(root);
  for (size_t i = 0; i < scope.size(); ++i) {
    AnyNeeded(*scope[i], [&](const char* name) {
      for (const link_map* other = objects; other != nullptr; other = other->l_next) {
        if (!IsNamed(*other, name)) continue;
        scope.Add(other);
        break;
      }
      return false;
    });
  }
}

// --- all of it -----------------------------------------------------------------------------------

struct Query {
  const link_map* object;
  const char* const* names;
  size_t count;
  Definitions* definitions;
};

void Answer(const Query& query) {
  const link_map* objects = LoadedObjects();
  bool several = false;
  for (size_t i = 0; i < query.count; ++i) {
    if (query.names[i] == nullptr) continue;
    Definitions& found = query.definitions[i];
    for (const link_map* object = objects; object != nullptr; object = object->l_next) {
      void* definition = FindIn(*object, query.names[i]);
      if (definition == nullptr) continue;
      if (found.count++ == 0) found.first = definition;
    }
    several |= found.count > 1;
  }
  if (!several || query.object == nullptr) return;
  ObjectSet scope;
  FillScope(objects, BroughtBy(objects, query.object), scope);
  for (size_t i = 0; i < query.count; ++i) {
    if (query.names[i] == nullptr) continue;
    Definitions& found = query.definitions[i];
    for (size_t k = 0; found.count > 1 && found.in_scope == nullptr && k < scope.size(); ++k) {
      found.in_scope = FindIn(*scope[k], query.names[i]);
    }
  }
}

}  // namespace

void FindDefinitions(const link_map* object, const char* const* names, size_t count,
                     Definitions* definitions) {
  for (size_t i = 0; i < count; ++i) definitions[i] = {};
  Query query = {object, names, count, definitions};
  // Only for the lock that is held during the call.
  IterateObjects(
      [](dl_phdr_info*, size_t, void* data) {
        Answer(*static_cast<const Query*>(data));
        return 1;
      },
      &query);
}

}  // namespace memprof
