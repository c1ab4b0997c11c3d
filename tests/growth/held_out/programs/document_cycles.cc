// A document server. A document owns its paragraphs, and each paragraph holds its document by
// shared_ptr, too, so a document that is opened for editing is never freed. Documents opened for
// reading have no such link.
//
// shape: shared_ptr cycles, through functions that harmless documents share
// leaks: OpenForEditing
// harmless: OpenForReading
// runs: small medium large
#include <memory>
#include <string>

#include "load.h"

struct Document;

struct Paragraph {
  std::string text;
  std::shared_ptr<Document> document;
};

struct Document {
  std::string title;
  std::vector<std::shared_ptr<Paragraph>> paragraphs;
};

std::shared_ptr<Document> LoadDocument(load::Random& random, std::uint64_t most) {
  auto document = std::make_shared<Document>();
  document->title.assign(random.Between(10, 60), 't');
  for (std::uint64_t i = 0, n = random.Between(1, most); i < n; ++i) {
    auto paragraph = std::make_shared<Paragraph>();
    paragraph->text.assign(random.Between(20, 600), 'p');
    document->paragraphs.push_back(std::move(paragraph));
  }
  return document;
}

std::size_t OpenForReading(load::Random& random, std::vector<std::shared_ptr<Document>>& readers,
                           std::uint64_t most) {
  auto& reader = readers[random.Below(readers.size())];
  reader = LoadDocument(random, most);
  return reader->paragraphs.size();
}

std::size_t OpenForEditing(load::Random& random, std::uint64_t most) {
  auto document = LoadDocument(random, most);
  for (auto& paragraph : document->paragraphs) paragraph->document = document;
  return document->paragraphs.size();
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 37);
  const auto base = load::BaseData(run.Pick(1.0, 3.0, 20.0));
  std::vector<std::shared_ptr<Document>> readers(run.Pick(10, 100, 1000));
  load::Random random(181);
  load::Arrivals reads(run, 182);
  load::Arrivals edits(run, 183);
  const auto most = run.Pick<std::uint64_t>(3, 10, 30);
  std::size_t sum = 0;
  while (run.Next()) {
    for (unsigned n = reads.Due(run.Pick(30.0, 300.0, 2000.0)); n > 0; --n) {
      sum += OpenForReading(random, readers, most);
    }
    for (unsigned n = edits.Due(run.Pick(0.5, 4.0, 150.0)); n > 0; --n) {
      sum += OpenForEditing(random, most);
    }
  }
  return sum == 1;
}
