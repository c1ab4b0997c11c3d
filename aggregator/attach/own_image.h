// Saves this library's writable memory, to restore it later. Constant-initialised tables are then
// as if they had never been used, and the tracker can start again.
//
// Thread safety: none. RestoreImage: no other thread runs, or has a frame in this library.
#pragma once

namespace memprof {

// False: no memory.
bool SaveImage();

// Restores it, and gives back the copy's memory. Pre: SaveImage.
void RestoreImage();

}  // namespace memprof
