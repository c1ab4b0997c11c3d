// Makes one system call again and again, without any signal handler, until its input has something or
// ends, and prints how often it was made and how often it ended with EINTR: for tests of memprof attach.
//
//   epoll children    epoll_wait, in a program whose children end meanwhile (SIGCHLD)
//   connect           connect to a socket whose queue is full, with SO_SNDTIMEO
//   sendmmsg          to a socket that is full, with SO_SNDTIMEO
//   sendfile          the same
//   io_uring          io_uring_enter that waits for an event; prints "none" if there is no io_uring
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct timeval kLimit = {0, 300000};
static struct sockaddr_un address = {AF_UNIX};
static int first, second;  // what the call needs

static void* have_children(void* unused) {
  for (;;) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
  }
}

static int limited(int fd) {
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kLimit, sizeof kLimit);
  return fd;
}

static void listen_to_nobody(void) {
  snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "memprof-test-%d", getpid());
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr*)&address, sizeof address) || listen(listener, 0)) exit(1);
  connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr*)&address, sizeof address);
}

static void fill_a_socket(void) {
  int pair[2];
  char bytes[4096] = {0};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) exit(1);
  first = limited(pair[0]);
  while (send(first, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
  }
}

static long call(const char* what) {
  if (strcmp(what, "epoll") == 0) {
    struct epoll_event event;
    return epoll_wait(first, &event, 1, 300);
  }
  if (strcmp(what, "connect") == 0) {
    const int fd = limited(socket(AF_UNIX, SOCK_STREAM, 0));
    const long result = connect(fd, (struct sockaddr*)&address, sizeof address);
    const int error = errno;
    close(fd);
    errno = error;
    return result;
  }
  if (strcmp(what, "sendmmsg") == 0) {
    char byte = 0;
    struct iovec part = {&byte, 1};
    struct mmsghdr message = {{.msg_iov = &part, .msg_iovlen = 1}};
    return sendmmsg(first, &message, 1, 0);
  }
  if (strcmp(what, "sendfile") == 0) {
    off_t at = 0;
    return sendfile(first, second, &at, 1);
  }
  struct __kernel_timespec limit = {0, 300000000};
  struct io_uring_getevents_arg argument = {.ts = (unsigned long)&limit};
  return syscall(SYS_io_uring_enter, first, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
                 &argument, sizeof argument);
}

int main(int argc, char** argv) {
  const char* what = argv[1];
  if (argc > 2) {
    pthread_t thread;
    for (int i = 0; i < 4; ++i) pthread_create(&thread, NULL, have_children, NULL);
  }
  if (strcmp(what, "epoll") == 0) first = epoll_create1(0);
  if (strcmp(what, "connect") == 0) listen_to_nobody();
  if (strcmp(what, "sendmmsg") == 0 || strcmp(what, "sendfile") == 0) fill_a_socket();
  if (strcmp(what, "sendfile") == 0) second = open("/proc/self/exe", O_RDONLY);
  if (strcmp(what, "io_uring") == 0) {
    struct io_uring_params parameters = {0};
    first = (int)syscall(SYS_io_uring_setup, 8, &parameters);
    if (first < 0) {
      puts("none");
      return 0;
    }
  }
  puts("ready");
  fflush(stdout);
  int calls = 0, interrupted = 0;
  struct pollfd told = {STDIN_FILENO, POLLIN, 0};
  for (; poll(&told, 1, 0) == 0; ++calls) {
    if (call(what) < 0 && errno == EINTR) ++interrupted;
  }
  printf("%d calls, %d interrupted\n", calls, interrupted);
  return 0;
}
