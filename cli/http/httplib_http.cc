// HTTP by cpp-httplib, for libmemprof_http.so: the only file that includes httplib.h.

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <list>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>

#include "cli/basics/mutex.h"
#include "cli/http/http_engine.h"
#include "core/scoped_fd.h"

namespace memprof {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kTooMany =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
    "Retry-After: 1\r\nConnection: close\r\nContent-Length: 42\r\n\r\n"
    "too many connections; try again in a while";
// How long a refused client may go on sending before it is cut off.
constexpr std::chrono::milliseconds kLinger{500};

// False: the time is over, or the descriptor is of no use any more.
bool WaitFor(int fd, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waits = {fd, events, 0};
    const int ready = poll(&waits, 1, static_cast<int>(std::min<int64_t>(left, 3'600'000)));
    if (ready > 0) return (waits.revents & (events | POLLHUP | POLLERR)) != 0;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// A connection's bytes, with the limits of the request or response that goes on.
class BoundedStream : public httplib::Stream {
 public:
  BoundedStream(int fd, const HttpLimits& limits) : fd_(fd), limits_(limits) {}

  // Waits for the next request's first byte.
  bool WaitForRequest() {
    if (begin_ == end_ && !WaitFor(fd_, POLLIN, Clock::now() + limits_.idle_time)) return false;
    read_deadline_ = Clock::now() + limits_.request_time;
    read_bytes_ = 0;
    return true;
  }
  void BeginResponse() { write_deadline_ = Clock::now() + limits_.response_time; }

  bool is_readable() const override {
    return begin_ != end_ || WaitFor(fd_, POLLIN, read_deadline_);
  }
  bool is_writable() const override { return WaitFor(fd_, POLLOUT, write_deadline_); }

  ssize_t read(char* to, size_t size) override {
    if (begin_ == end_ && !Fill()) return -1;
    const size_t bytes = std::min({size, end_ - begin_, limits_.most_request_bytes - read_bytes_});
    if (bytes == 0) return -1;  // too long
    std::copy_n(buffer_.data() + begin_, bytes, to);
    begin_ += bytes;
    read_bytes_ += bytes;
    return static_cast<ssize_t>(bytes);
  }

  ssize_t write(const char* from, size_t size) override {
    size_t done = 0;
    while (done < size) {
      const ssize_t sent = send(fd_, from + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        done += static_cast<size_t>(sent);
        continue;
      }
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return -1;
      if (!WaitFor(fd_, POLLOUT, write_deadline_)) return -1;
    }
    return static_cast<ssize_t>(done);
  }

  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return fd_; }

 private:
  bool Fill() {
    while (WaitFor(fd_, POLLIN, read_deadline_)) {
      const ssize_t got = recv(fd_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (got > 0) {
        begin_ = 0;
        end_ = static_cast<size_t>(got);
        return true;
      }
      if (got == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) return false;
    }
    return false;
  }

  const int fd_;
  const HttpLimits& limits_;
  Clock::time_point read_deadline_, write_deadline_;
  std::array<char, 4096> buffer_;
  size_t begin_ = 0, end_ = 0;  // what is read and not yet taken
  size_t read_bytes_ = 0;       // of this request
};

HttpRequest RequestOf(const httplib::Request& from) {
  HttpRequest request;
  request.method = from.method;
  request.path = from.path;
  request.query.insert(from.params.begin(), from.params.end());
  for (const auto& [name, value] : from.headers) {
    std::string lower = name;
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    request.headers.emplace(std::move(lower), value);
  }
  return request;
}

bool HasBody(const HttpRequest& request) {
  const auto length = request.Header("content-length");
  return request.headers.count("transfer-encoding") != 0 ||
         (request.headers.count("content-length") != 0 && length != "0");
}

class Server : public httplib::Server {
 public:
  Server(const HttpHandler& handler, const HttpLimits& limits)
      : handler_(handler), limits_(limits) {
    set_keep_alive_max_count(limits_.most_requests);
    set_keep_alive_timeout(
        std::chrono::duration_cast<std::chrono::seconds>(limits_.idle_time).count());
    set_pre_routing_handler([this](const httplib::Request& from, httplib::Response& to) {
      Answer(RequestOf(from), to);
      return HandlerResponse::Handled;
    });
  }

  void Run(int listener, int stop) {
    svr_sock_ = listener;  // what streams of httplib take for "goes on"
    for (;;) {
      pollfd waits[] = {{listener, POLLIN, 0}, {stop, POLLIN, 0}};
      const int ready = poll(waits, 2, 1000);
      Reap();
      if (ready > 0 && waits[1].revents != 0) break;
      if (ready <= 0 || waits[0].revents == 0) continue;
      ScopedFd peer(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
      if (peer) {
        Begin(std::move(peer));
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    }
    ends_ = true;
    svr_sock_ = INVALID_SOCKET;
    for (auto& connection : connections_) shutdown(connection.fd.get(), SHUT_RDWR);
    for (auto& connection : connections_) connection.thread.join();
    connections_.clear();
  }

 private:
  struct Connection {
    ScopedFd fd;
    std::atomic<bool> waits = true;  // for a request
    std::atomic<Clock::time_point> since = Clock::now();
    std::atomic<bool> done = false;
    bool evicted = false;
    // The connection's own thread's.
    bool must_close = false;
    bool answered = false;  // the request, by the handler
    BoundedStream* stream = nullptr;
    std::thread thread;
  };

  void Reap() {
    for (auto at = connections_.begin(); at != connections_.end();) {
      if (!at->done) {
        ++at;
        continue;
      }
      at->thread.join();
      at = connections_.erase(at);
    }
  }

  // Makes room by closing the connection that has waited longest. False: all of them are busy.
  bool MakeRoom() {
    Connection* oldest = nullptr;
    size_t there = 0;
    for (Connection& each : connections_) {
      if (each.evicted || each.done) continue;
      ++there;
      if (each.waits && (oldest == nullptr || each.since.load() < oldest->since.load())) {
        oldest = &each;
      }
    }
    // Those that were closed still end: they are bounded too.
    if (connections_.size() >= 2 * limits_.most_connections) return false;
    if (there < limits_.most_connections) return true;
    if (oldest == nullptr) return false;
    oldest->evicted = true;
    shutdown(oldest->fd.get(), SHUT_RDWR);
    return true;
  }

  void Begin(ScopedFd peer) {
    if (!MakeRoom()) {
      send(peer.get(), kTooMany.data(), kTooMany.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      return;
    }
    Connection& connection = connections_.emplace_back();
    connection.fd = std::move(peer);
    try {
      connection.thread = std::thread([this, &connection] { Serve(connection); });
    } catch (const std::system_error&) {
      connections_.pop_back();
    }
  }

  void Serve(Connection& connection) {
    mine_ = &connection;
    try {
      BoundedStream stream(connection.fd.get(), limits_);
      connection.stream = &stream;
      for (size_t i = 0; i < limits_.most_requests && !ends_; ++i) {
        connection.since = Clock::now();
        connection.waits = true;
        if (!stream.WaitForRequest()) break;
        stream.BeginResponse();  // also of an error that httplib answers by itself
        connection.answered = false;
        bool closed = false;
        const bool last = i + 1 == limits_.most_requests;
        const bool fine = process_request(stream, last, closed, [&](httplib::Request& request) {
          connection.waits = false;
          // Parts of a response have no use here, and compression costs more than it saves nearby.
          request.ranges.clear();
          request.headers.erase("Range");
          request.headers.erase("Accept-Encoding");
        });
        // Behind a request that httplib refused by itself its body may come, which is not to be taken
        // for a request.
        if (!fine || closed || connection.must_close || !connection.answered) break;
      }
      Linger(connection.fd.get());
    } catch (...) {
      // A bad_alloc: this connection ends, the others go on.
    }
    shutdown(connection.fd.get(), SHUT_RDWR);
    connection.done = true;
  }

  // A close with bytes unread would take the response from the client.
  void Linger(int fd) {
    shutdown(fd, SHUT_WR);
    const auto deadline = Clock::now() + kLinger;
    char taken[4096];
    while (!ends_ && WaitFor(fd, POLLIN, deadline)) {
      if (recv(fd, taken, sizeof taken, MSG_DONTWAIT) <= 0) return;
    }
  }

  bool IsAbandoned() const {
    pollfd state = {mine_->fd.get(), POLLRDHUP, 0};
    return ends_ || (poll(&state, 1, 0) > 0 && state.revents != 0);
  }

  void Answer(HttpRequest request, httplib::Response& to) {
    HttpResponse response;
    mine_->answered = true;
    if (HasBody(request) || request.headers.count("expect") != 0) {
      mine_->must_close = true;
      response.status = 413;
      response.body = MakeBody("a request has no body here\n");
    } else {
      request.abandoned = [this] { return IsAbandoned(); };
      try {
        response = handler_(request);
      } catch (const std::bad_alloc&) {
        response = HttpResponse();
        response.status = 503;
        response.body = MakeBody("out of memory\n");
      }
    }
    mine_->stream->BeginResponse();
    to.status = response.status;
    for (const auto& [name, value] : response.headers) to.set_header(name, value);
    if (response.stream) {
      to.set_chunked_content_provider(response.type, [this, write = std::move(response.stream)](
                                                         size_t, httplib::DataSink& sink) {
        bool fine = true;
        write([&](std::string_view text) {
          mine_->stream->BeginResponse();
          fine = fine && !IsAbandoned() && (text.empty() || sink.write(text.data(), text.size()));
          return fine;
        });
        if (fine) sink.done();
        return fine;
      });
    } else if (response.body == nullptr || response.body->empty()) {
      to.set_content("", response.type);
    } else {
      to.set_content_provider(
          response.body->size(), response.type,
          [body = response.body](size_t offset, size_t length, httplib::DataSink& sink) {
            return sink.write(body->data() + offset, length);
          });
    }
  }

  static thread_local Connection* mine_;

  const HttpHandler& handler_;
  const HttpLimits& limits_;
  std::atomic<bool> ends_ = false;
  std::list<Connection> connections_;  // of the thread in Run
};

thread_local Server::Connection* Server::mine_ = nullptr;

// An answer's bytes, within limits that the server can't move. httplib bounds a piece's time, and
// nothing of what comes before the body.
class AnswerStream : public httplib::Stream {
 public:
  AnswerStream(int fd, const HttpAskLimits& limits)
      : fd_(fd), limits_(limits), ends_(Clock::now() + limits.all_time) {}

  // Pre: what was taken is a part of the body.
  void BodyCame() { in_body_ = true; }
  bool too_long() const { return too_long_; }
  bool too_slow() const { return too_slow_; }

  bool is_readable() const override { return begin_ != end_ || Waits(POLLIN); }
  bool is_writable() const override { return Waits(POLLOUT); }

  ssize_t read(char* to, size_t size) override {
    if (begin_ == end_) {
      if (!Waits(POLLIN)) return -1;
      const ssize_t got = recv(fd_, buffer_.data(), buffer_.size(), 0);
      if (got <= 0) return got;
      begin_ = 0;
      end_ = static_cast<size_t>(got);
    }
    // Chunks have lines of their own.
    const size_t most =
        limits_.most_head_bytes + (in_body_ ? limits_.most_bytes + limits_.most_bytes / 8 : 0);
    const size_t bytes = std::min({size, end_ - begin_, most - std::min(most, read_bytes_)});
    too_long_ = too_long_ || bytes == 0;
    if (bytes == 0) return -1;
    std::copy_n(buffer_.data() + begin_, bytes, to);
    begin_ += bytes;
    read_bytes_ += bytes;
    return static_cast<ssize_t>(bytes);
  }

  ssize_t write(const char* from, size_t size) override {
    return Waits(POLLOUT) ? send(fd_, from, size, MSG_NOSIGNAL) : -1;
  }

  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return fd_; }

 private:
  bool Waits(short events) const {
    const bool comes = WaitFor(fd_, events, std::min(ends_, Clock::now() + limits_.time));
    too_slow_ = too_slow_ || !comes;
    return comes;
  }

  const int fd_;
  const HttpAskLimits& limits_;
  const Clock::time_point ends_;
  bool in_body_ = false;
  bool too_long_ = false;
  mutable bool too_slow_ = false;
  std::array<char, 65536> buffer_;
  size_t begin_ = 0, end_ = 0;  // what is received and not yet taken
  size_t read_bytes_ = 0;
};

// Asks once.
class Client : public httplib::ClientImpl {
 public:
  Client(const HttpPlace& place, const HttpAskLimits& limits)
      : ClientImpl(place.socket.empty() ? place.host : place.socket, place.port), limits_(limits) {
    if (!place.socket.empty()) set_address_family(AF_UNIX);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limits.time).count();
    const auto rest =
        std::chrono::duration_cast<std::chrono::microseconds>(limits.time).count() % 1'000'000;
    set_connection_timeout(seconds, rest);
  }

  void BodyCame() {
    if (stream_ != nullptr) stream_->BodyCame();
  }
  bool too_long() const { return too_long_; }
  bool too_slow() const { return too_slow_; }

 private:
  bool process_socket(const Socket& socket,
                      std::function<bool(httplib::Stream&)> callback) override {
    AnswerStream stream(socket.sock, limits_);
    stream_ = &stream;
    const bool fine = callback(stream);
    stream_ = nullptr;
    too_long_ = stream.too_long();
    too_slow_ = stream.too_slow();
    return fine;
  }

  const HttpAskLimits& limits_;
  AnswerStream* stream_ = nullptr;
  bool too_long_ = false;
  bool too_slow_ = false;
};

class CppHttplib final : public HttpEngine {
 public:
  void Serve(const HttpHandler& handler, const HttpLimits& limits, int listener,
             int stop) const override {
    Server(handler, limits).Run(listener, stop);
  }
  Result<HttpAnswer> Ask(const std::string& method, const HttpPlace& place,
                         const std::string& target, const std::string& token,
                         const HttpAskLimits& limits) const override {
    Client client(place, limits);
    httplib::Headers headers;
    if (!token.empty()) headers.emplace("Authorization", "Bearer " + token);
    HttpAnswer answer;
    bool too_long = false;
    const auto take = [&](const char* data, size_t bytes) {
      client.BodyCame();
      too_long = answer.body.size() + bytes > limits.most_bytes;
      if (!too_long) answer.body.append(data, bytes);
      return !too_long;
    };
    const httplib::Result result = method == "POST"
                                       ? client.Post(target, headers, std::string(), "text/plain")
                                       : client.Get(target, headers, take);
    const std::string where = place.socket.empty() ? place.host : "unix:" + place.socket;
    if (too_long || client.too_long()) {
      return Fail(ErrorKind::kIo, where + ": the answer is too long");
    }
    if (!result && client.too_slow()) {
      return Fail(ErrorKind::kIo, where + ": the answer takes too long");
    }
    if (!result) {
      const bool nobody = result.error() == httplib::Error::Connection;
      return Fail(
          ErrorKind::kIo,
          where + (nobody ? ": nothing listens there" : ": " + httplib::to_string(result.error())) +
              "; does memprof serve, or run --serve, still run?");
    }
    answer.status = result->status;
    if (method == "POST") answer.body = result->body;
    return answer;
  }
};

}  // namespace
}  // namespace memprof

const memprof::HttpEngine* MemprofHttpEngine(const char* version) {
  static const memprof::CppHttplib engine;
  return version == std::string_view(MEMPROF_VERSION) ? &engine : nullptr;
}
