#include "cli/supervisor/channels/shown_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace memprof {
namespace {

struct RunFacts {
  uint32_t version = kControlVersion;
  uint32_t supervisor = 0;
  uint32_t program = 0;
  uint32_t living = 0;
  uint32_t processes = 0;
  uint32_t unused = 0;
};

struct ProcessFacts {
  uint32_t pid = 0;
  uint32_t unused = 0;
  int64_t start_unix_ms = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  char program[256] = {};
};

constexpr int kSendFlags = MSG_NOSIGNAL | MSG_DONTWAIT;

// One descriptor beside a message.
union DescriptorRoom {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

bool SendWithDescriptor(int socket, const ProcessFacts& facts, int descriptor) {
  iovec part = {const_cast<ProcessFacts*>(&facts), sizeof facts};
  DescriptorRoom room = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes;
  message.msg_controllen = sizeof room.bytes;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return sendmsg(socket, &message, kSendFlags) == static_cast<ssize_t>(sizeof facts);
}

// A viewer must not be able to write where the program counts.
ScopedFd ReadOnly(int descriptor) {
  return ScopedFd(open(fmt::format("/proc/self/fd/{}", descriptor).c_str(), O_RDONLY | O_CLOEXEC));
}

// nullopt: the message isn't by the protocol. It may be without a descriptor.
std::optional<ProcessFacts> ReceiveProcess(int socket, ScopedFd* descriptor) {
  ProcessFacts facts;
  iovec part = {&facts, sizeof facts};
  DescriptorRoom room = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes;
  message.msg_controllen = sizeof room.bytes;
  const ssize_t bytes = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  for (cmsghdr* header = bytes < 0 ? nullptr : CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
        header->cmsg_len != CMSG_LEN(sizeof(int))) {
      continue;
    }
    int received = -1;
    std::memcpy(&received, CMSG_DATA(header), sizeof received);
    *descriptor = ScopedFd(received);
  }
  if (bytes != static_cast<ssize_t>(sizeof facts)) return std::nullopt;
  return facts;
}

}  // namespace

void AnswerWithRun(int fd, const ShownRun& run) {
  const ScopedFd peer(fd);
  ControlReply reply;
  reply.status = ControlStatus::kTaken;
  SetText(reply.text, run.capture);
  RunFacts facts;
  facts.supervisor = static_cast<uint32_t>(run.supervisor);
  facts.program = static_cast<uint32_t>(run.program);
  facts.living = run.living;
  facts.processes = static_cast<uint32_t>(std::min(run.processes.size(), kMostShownProcesses));
  if (send(peer.get(), &reply, sizeof reply, kSendFlags) != static_cast<ssize_t>(sizeof reply) ||
      send(peer.get(), &facts, sizeof facts, kSendFlags) != static_cast<ssize_t>(sizeof facts)) {
    return;
  }
  // Children's regions lie in a few files: each is opened once.
  int opened_from = -1;
  ScopedFd opened;
  for (uint32_t i = 0; i < facts.processes; ++i) {
    const ShownProcess& process = run.processes[i];
    if (process.region.fd != opened_from) {
      opened = ReadOnly(process.region.fd);
      opened_from = process.region.fd;
    }
    ProcessFacts sent;
    sent.pid = static_cast<uint32_t>(process.pid);
    sent.start_unix_ms = process.start_unix_ms;
    sent.offset = process.region.offset;
    sent.bytes = process.region.bytes;
    SetText(sent.program, process.program);
    if (!opened || !SendWithDescriptor(peer.get(), sent, opened.get())) return;
  }
}

std::optional<ShownRun> AskForRun(const std::string& directory, uid_t other,
                                  const ControlRequest& request, ControlStatus* why) {
  ScopedFd peer;
  const ControlReply reply = AskSupervisor(directory, other, request, kControlPatience, &peer);
  if (why != nullptr) *why = reply.status;
  if (reply.status != ControlStatus::kTaken) return std::nullopt;
  RunFacts facts;
  if (recv(peer.get(), &facts, sizeof facts, 0) != static_cast<ssize_t>(sizeof facts) ||
      facts.version != kControlVersion) {
    return std::nullopt;
  }
  ShownRun run;
  run.supervisor = static_cast<pid_t>(facts.supervisor);
  run.program = static_cast<pid_t>(facts.program);
  run.living = facts.living;
  run.capture = TextOf(reply.text);
  for (size_t i = 0; i < std::min<size_t>(facts.processes, kMostShownProcesses); ++i) {
    ScopedFd descriptor;
    const auto process = ReceiveProcess(peer.get(), &descriptor);
    if (!process || !descriptor) break;
    run.processes.push_back({static_cast<pid_t>(process->pid), TextOf(process->program),
                             process->start_unix_ms,
                             RegionPlace(std::make_shared<const ScopedFd>(std::move(descriptor)),
                                         process->offset, process->bytes, nullptr)});
  }
  return run;
}

}  // namespace memprof
