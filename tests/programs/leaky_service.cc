// A small service with a leak: the example of the documentation.
//
// SITE function=Session      line=@session peak=480000/1000 leaked=0/0         total=480000/1000
// SITE function=RememberUser line=@leak    peak=250000/1000 leaked=250000/1000 total=250000/1000
#include <cstring>
#include <new>

struct User {
  char name[250];
};

struct Session {
  char* buffer;
  Session() : buffer(new char[480]) {}  // @session
  ~Session() { delete[] buffer; }
};

User* last_user = nullptr;

void RememberUser(const char* name) {
  User* user = new User;  // @leak
  std::strncpy(user->name, name, sizeof user->name - 1);
  last_user = user;  // the one before is lost
}

void Serve(Session* session, int request) {
  std::memset(session->buffer, request, 480);
  RememberUser("somebody");
}

int main() {
  static Session* sessions[1000];
  int n = 0;
  alignas(Session) static char storage[1000][sizeof(Session)];
  for (int request = 0; request < 1000; ++request) {
    sessions[n] = new (storage[n]) Session;
    Serve(sessions[n++], request);
  }
  while (n > 0) sessions[--n]->~Session();
  return 0;
}
