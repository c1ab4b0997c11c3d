// A pre-fork server on loopback, which is its own client. The master reads a configuration, forks
// workers that accept from one socket, and sends requests. Each request leaves a session of 104
// bytes in the worker that took it.
//
// usage: prefork_server WORKERS REQUESTS
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct session {
  struct session* next;
  char user[96];
};
static struct session* volatile sessions;
static char* volatile configuration;
static volatile sig_atomic_t over;

static void stop(int number) { over = number; }

static void load_configuration(void) {
  configuration = malloc(200000);
  memset(configuration, 1, 200000);
}

static void remember(const char* user) {
  struct session* session = malloc(sizeof *session);
  strncpy(session->user, user, sizeof session->user - 1);
  session->next = sessions;
  sessions = session;
}

static void serve(int connection) {
  char* request = malloc(4096);
  const ssize_t n = read(connection, request, 4095);
  if (n > 0) {
    request[n] = 0;
    remember(request);
    (void)!write(connection, "ok", 2);
  }
  free(request);
  close(connection);
}

static void worker(int listener) {
  struct sigaction action = {.sa_handler = stop};
  sigaction(SIGTERM, &action, NULL);
  while (!over) {
    const int connection = accept(listener, NULL, NULL);
    if (connection >= 0) serve(connection);
  }
  exit(0);
}

static int request(const struct sockaddr_in* address, const char* user) {
  char reply[2];
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, (const struct sockaddr*)address, sizeof *address) != 0) return 1;
  const int fine = write(fd, user, strlen(user)) > 0 && read(fd, reply, 2) == 2;
  close(fd);
  return fine ? 0 : 1;
}

int main(int argc, char** argv) {
  const int workers = argc > 1 ? atoi(argv[1]) : 4;
  const int requests = argc > 2 ? atoi(argv[2]) : 1000;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t bytes = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener, (struct sockaddr*)&address, bytes) != 0 || listen(listener, 64) != 0) return 1;
  if (getsockname(listener, (struct sockaddr*)&address, &bytes) != 0) return 2;
  load_configuration();
  pid_t pids[256];
  for (int i = 0; i < workers && i < 256; ++i) {
    pids[i] = fork();
    if (pids[i] < 0) return 3;
    if (pids[i] == 0) worker(listener);
  }
  int failed = 0;
  for (int i = 0; i < requests; ++i) failed += request(&address, "somebody");
  for (int i = 0; i < workers && i < 256; ++i) {
    int status;
    do {  // a signal that comes just before accept is not seen by it
      kill(pids[i], SIGTERM);
      usleep(1000);
    } while (waitpid(pids[i], &status, WNOHANG) == 0);
  }
  return failed == 0 ? 0 : 4;
}
