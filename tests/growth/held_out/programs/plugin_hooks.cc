// An application server whose plugins each have a hook. A hook notes what it has done in a record
// that it allocates itself, in C's style, and hangs into the chain of its plugin; no chain is ever
// cut. Each of the 200 hooks is a function of its own, at a line of its own.
//
// shape: 200 small places that leak together, at lines of their own
// leaks: hook_*
// harmless: serve
// runs: medium large
#include "load.h"

namespace {

struct Note {
  Note* next;
  std::uint64_t value;
};

Note* hang(Note* first, Note* note, std::uint64_t value) {
  note->next = first;
  note->value = value;
  return note;
}

#define HOOK(name)                                                                 \
  void name(std::uint64_t value) {                                                 \
    static Note* first = nullptr;                                                  \
    first = hang(first, static_cast<Note*>(std::malloc(sizeof(Note) + 8)), value); \
  }

HOOK(hook_open_page)
HOOK(hook_open_file)
HOOK(hook_open_socket)
HOOK(hook_open_frame)
HOOK(hook_open_user)
HOOK(hook_open_group)
HOOK(hook_open_tile)
HOOK(hook_open_order)
HOOK(hook_open_item)
HOOK(hook_open_note)
HOOK(hook_close_page)
HOOK(hook_close_file)
HOOK(hook_close_socket)
HOOK(hook_close_frame)
HOOK(hook_close_user)
HOOK(hook_close_group)
HOOK(hook_close_tile)
HOOK(hook_close_order)
HOOK(hook_close_item)
HOOK(hook_close_note)
HOOK(hook_read_page)
HOOK(hook_read_file)
HOOK(hook_read_socket)
HOOK(hook_read_frame)
HOOK(hook_read_user)
HOOK(hook_read_group)
HOOK(hook_read_tile)
HOOK(hook_read_order)
HOOK(hook_read_item)
HOOK(hook_read_note)
HOOK(hook_write_page)
HOOK(hook_write_file)
HOOK(hook_write_socket)
HOOK(hook_write_frame)
HOOK(hook_write_user)
HOOK(hook_write_group)
HOOK(hook_write_tile)
HOOK(hook_write_order)
HOOK(hook_write_item)
HOOK(hook_write_note)
HOOK(hook_send_page)
HOOK(hook_send_file)
HOOK(hook_send_socket)
HOOK(hook_send_frame)
HOOK(hook_send_user)
HOOK(hook_send_group)
HOOK(hook_send_tile)
HOOK(hook_send_order)
HOOK(hook_send_item)
HOOK(hook_send_note)
HOOK(hook_receive_page)
HOOK(hook_receive_file)
HOOK(hook_receive_socket)
HOOK(hook_receive_frame)
HOOK(hook_receive_user)
HOOK(hook_receive_group)
HOOK(hook_receive_tile)
HOOK(hook_receive_order)
HOOK(hook_receive_item)
HOOK(hook_receive_note)
HOOK(hook_start_page)
HOOK(hook_start_file)
HOOK(hook_start_socket)
HOOK(hook_start_frame)
HOOK(hook_start_user)
HOOK(hook_start_group)
HOOK(hook_start_tile)
HOOK(hook_start_order)
HOOK(hook_start_item)
HOOK(hook_start_note)
HOOK(hook_stop_page)
HOOK(hook_stop_file)
HOOK(hook_stop_socket)
HOOK(hook_stop_frame)
HOOK(hook_stop_user)
HOOK(hook_stop_group)
HOOK(hook_stop_tile)
HOOK(hook_stop_order)
HOOK(hook_stop_item)
HOOK(hook_stop_note)
HOOK(hook_draw_page)
HOOK(hook_draw_file)
HOOK(hook_draw_socket)
HOOK(hook_draw_frame)
HOOK(hook_draw_user)
HOOK(hook_draw_group)
HOOK(hook_draw_tile)
HOOK(hook_draw_order)
HOOK(hook_draw_item)
HOOK(hook_draw_note)
HOOK(hook_load_page)
HOOK(hook_load_file)
HOOK(hook_load_socket)
HOOK(hook_load_frame)
HOOK(hook_load_user)
HOOK(hook_load_group)
HOOK(hook_load_tile)
HOOK(hook_load_order)
HOOK(hook_load_item)
HOOK(hook_load_note)
HOOK(hook_save_page)
HOOK(hook_save_file)
HOOK(hook_save_socket)
HOOK(hook_save_frame)
HOOK(hook_save_user)
HOOK(hook_save_group)
HOOK(hook_save_tile)
HOOK(hook_save_order)
HOOK(hook_save_item)
HOOK(hook_save_note)
HOOK(hook_join_page)
HOOK(hook_join_file)
HOOK(hook_join_socket)
HOOK(hook_join_frame)
HOOK(hook_join_user)
HOOK(hook_join_group)
HOOK(hook_join_tile)
HOOK(hook_join_order)
HOOK(hook_join_item)
HOOK(hook_join_note)
HOOK(hook_leave_page)
HOOK(hook_leave_file)
HOOK(hook_leave_socket)
HOOK(hook_leave_frame)
HOOK(hook_leave_user)
HOOK(hook_leave_group)
HOOK(hook_leave_tile)
HOOK(hook_leave_order)
HOOK(hook_leave_item)
HOOK(hook_leave_note)
HOOK(hook_move_page)
HOOK(hook_move_file)
HOOK(hook_move_socket)
HOOK(hook_move_frame)
HOOK(hook_move_user)
HOOK(hook_move_group)
HOOK(hook_move_tile)
HOOK(hook_move_order)
HOOK(hook_move_item)
HOOK(hook_move_note)
HOOK(hook_copy_page)
HOOK(hook_copy_file)
HOOK(hook_copy_socket)
HOOK(hook_copy_frame)
HOOK(hook_copy_user)
HOOK(hook_copy_group)
HOOK(hook_copy_tile)
HOOK(hook_copy_order)
HOOK(hook_copy_item)
HOOK(hook_copy_note)
HOOK(hook_rename_page)
HOOK(hook_rename_file)
HOOK(hook_rename_socket)
HOOK(hook_rename_frame)
HOOK(hook_rename_user)
HOOK(hook_rename_group)
HOOK(hook_rename_tile)
HOOK(hook_rename_order)
HOOK(hook_rename_item)
HOOK(hook_rename_note)
HOOK(hook_delete_page)
HOOK(hook_delete_file)
HOOK(hook_delete_socket)
HOOK(hook_delete_frame)
HOOK(hook_delete_user)
HOOK(hook_delete_group)
HOOK(hook_delete_tile)
HOOK(hook_delete_order)
HOOK(hook_delete_item)
HOOK(hook_delete_note)
HOOK(hook_create_page)
HOOK(hook_create_file)
HOOK(hook_create_socket)
HOOK(hook_create_frame)
HOOK(hook_create_user)
HOOK(hook_create_group)
HOOK(hook_create_tile)
HOOK(hook_create_order)
HOOK(hook_create_item)
HOOK(hook_create_note)
HOOK(hook_update_page)
HOOK(hook_update_file)
HOOK(hook_update_socket)
HOOK(hook_update_frame)
HOOK(hook_update_user)
HOOK(hook_update_group)
HOOK(hook_update_tile)
HOOK(hook_update_order)
HOOK(hook_update_item)
HOOK(hook_update_note)
HOOK(hook_verify_page)
HOOK(hook_verify_file)
HOOK(hook_verify_socket)
HOOK(hook_verify_frame)
HOOK(hook_verify_user)
HOOK(hook_verify_group)
HOOK(hook_verify_tile)
HOOK(hook_verify_order)
HOOK(hook_verify_item)
HOOK(hook_verify_note)

using Hook = void (*)(std::uint64_t);
const Hook hooks[] = {
    hook_open_page,      hook_open_file,     hook_open_socket,   hook_open_frame,
    hook_open_user,      hook_open_group,    hook_open_tile,     hook_open_order,
    hook_open_item,      hook_open_note,     hook_close_page,    hook_close_file,
    hook_close_socket,   hook_close_frame,   hook_close_user,    hook_close_group,
    hook_close_tile,     hook_close_order,   hook_close_item,    hook_close_note,
    hook_read_page,      hook_read_file,     hook_read_socket,   hook_read_frame,
    hook_read_user,      hook_read_group,    hook_read_tile,     hook_read_order,
    hook_read_item,      hook_read_note,     hook_write_page,    hook_write_file,
    hook_write_socket,   hook_write_frame,   hook_write_user,    hook_write_group,
    hook_write_tile,     hook_write_order,   hook_write_item,    hook_write_note,
    hook_send_page,      hook_send_file,     hook_send_socket,   hook_send_frame,
    hook_send_user,      hook_send_group,    hook_send_tile,     hook_send_order,
    hook_send_item,      hook_send_note,     hook_receive_page,  hook_receive_file,
    hook_receive_socket, hook_receive_frame, hook_receive_user,  hook_receive_group,
    hook_receive_tile,   hook_receive_order, hook_receive_item,  hook_receive_note,
    hook_start_page,     hook_start_file,    hook_start_socket,  hook_start_frame,
    hook_start_user,     hook_start_group,   hook_start_tile,    hook_start_order,
    hook_start_item,     hook_start_note,    hook_stop_page,     hook_stop_file,
    hook_stop_socket,    hook_stop_frame,    hook_stop_user,     hook_stop_group,
    hook_stop_tile,      hook_stop_order,    hook_stop_item,     hook_stop_note,
    hook_draw_page,      hook_draw_file,     hook_draw_socket,   hook_draw_frame,
    hook_draw_user,      hook_draw_group,    hook_draw_tile,     hook_draw_order,
    hook_draw_item,      hook_draw_note,     hook_load_page,     hook_load_file,
    hook_load_socket,    hook_load_frame,    hook_load_user,     hook_load_group,
    hook_load_tile,      hook_load_order,    hook_load_item,     hook_load_note,
    hook_save_page,      hook_save_file,     hook_save_socket,   hook_save_frame,
    hook_save_user,      hook_save_group,    hook_save_tile,     hook_save_order,
    hook_save_item,      hook_save_note,     hook_join_page,     hook_join_file,
    hook_join_socket,    hook_join_frame,    hook_join_user,     hook_join_group,
    hook_join_tile,      hook_join_order,    hook_join_item,     hook_join_note,
    hook_leave_page,     hook_leave_file,    hook_leave_socket,  hook_leave_frame,
    hook_leave_user,     hook_leave_group,   hook_leave_tile,    hook_leave_order,
    hook_leave_item,     hook_leave_note,    hook_move_page,     hook_move_file,
    hook_move_socket,    hook_move_frame,    hook_move_user,     hook_move_group,
    hook_move_tile,      hook_move_order,    hook_move_item,     hook_move_note,
    hook_copy_page,      hook_copy_file,     hook_copy_socket,   hook_copy_frame,
    hook_copy_user,      hook_copy_group,    hook_copy_tile,     hook_copy_order,
    hook_copy_item,      hook_copy_note,     hook_rename_page,   hook_rename_file,
    hook_rename_socket,  hook_rename_frame,  hook_rename_user,   hook_rename_group,
    hook_rename_tile,    hook_rename_order,  hook_rename_item,   hook_rename_note,
    hook_delete_page,    hook_delete_file,   hook_delete_socket, hook_delete_frame,
    hook_delete_user,    hook_delete_group,  hook_delete_tile,   hook_delete_order,
    hook_delete_item,    hook_delete_note,   hook_create_page,   hook_create_file,
    hook_create_socket,  hook_create_frame,  hook_create_user,   hook_create_group,
    hook_create_tile,    hook_create_order,  hook_create_item,   hook_create_note,
    hook_update_page,    hook_update_file,   hook_update_socket, hook_update_frame,
    hook_update_user,    hook_update_group,  hook_update_tile,   hook_update_order,
    hook_update_item,    hook_update_note,   hook_verify_page,   hook_verify_file,
    hook_verify_socket,  hook_verify_frame,  hook_verify_user,   hook_verify_group,
    hook_verify_tile,    hook_verify_order,  hook_verify_item,   hook_verify_note,
};

void serve(load::Random& random) {
  const std::size_t bytes = random.Between(100, 3000);
  auto* answer = static_cast<char*>(std::malloc(bytes));
  std::memset(answer, 'a', bytes);
  std::free(answer);
}

}  // namespace

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 38);
  const auto base = load::BaseData(run.Pick(1.0, 6.0, 60.0));
  load::Random random(901);
  load::Arrivals requests(run, 902);
  while (run.Next()) {
    for (unsigned n = requests.Due(run.Pick(50.0, 500.0, 25000.0)); n > 0; --n) {
      serve(random);
      hooks[random.Below(std::size(hooks))](n);
    }
  }
}
