#define _GNU_SOURCE
#include "CPrephirencesGlibc.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#define OF_THE_PROGRAM __attribute__((visibility("hidden")))

OF_THE_PROGRAM uint32_t arc4random(void) {
  uint32_t value;
  // So few bytes come whole.
  while (getrandom(&value, sizeof value, 0) != sizeof value) {
    // As glibc does: the caller expects no failure.
    if (errno != EINTR) abort();
  }
  return value;
}

OF_THE_PROGRAM float hypotf(float x, float y) {
  if (isinf(x) || isinf(y)) return INFINITY;
  // A double holds the sum of the squares of all floats.
  return (float)sqrt((double)x * x + (double)y * y);
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE

struct Search {
  ElfW(Addr) address;
  struct dl_find_object *found;
};

static int look_at_object(struct dl_phdr_info *info, size_t size, void *context) {
  struct Search *search = context;
  ElfW(Addr) start = UINTPTR_MAX, end = 0, frames = 0;
  bool holds_address = false;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    ElfW(Addr) first = info->dlpi_addr + segment->p_vaddr, last = first + segment->p_memsz;
    if (segment->p_type == PT_GNU_EH_FRAME) frames = first;
    if (segment->p_type != PT_LOAD) continue;
    if (first < start) start = first;
    if (last > end) end = last;
    if (search->address >= first && search->address < last) holds_address = true;
  }
  if (!holds_address || !frames) return 0;
  *search->found = (struct dl_find_object){
      .dlfo_map_start = (void *)start, .dlfo_map_end = (void *)end, .dlfo_eh_frame = (void *)frames};
  return 1;
}

OF_THE_PROGRAM int _dl_find_object(void *address, struct dl_find_object *result) {
  struct Search search = {(ElfW(Addr))address, result};
  return dl_iterate_phdr(look_at_object, &search) == 1 ? 0 : -1;
}

#endif
