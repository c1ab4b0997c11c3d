// This library's writable memory as it is now, to be put back later: constant-initialised tables
// are then as if they had never been used, and the tracker can start again.
//
// Thread safety: none. RestoreImage: no other thread runs, or has a frame in this library.
#pragma once

namespace memprof {

// False: no memory.
bool SaveImage();

// Puts it back, and gives the copy's memory back. Pre: SaveImage.
void RestoreImage();

}  // namespace memprof
