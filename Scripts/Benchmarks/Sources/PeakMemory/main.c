// Runs a command, and prints its peak memory use, in KiB.
//
// A child starts with the peak of the process that started it, so this program must be small.

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 2) return 64;
  pid_t child = fork();
  if (child < 0) return 71;
  if (child == 0) {
    if (freopen("/dev/null", "w", stdout) == NULL) _exit(74);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  int status;
  struct rusage usage;
  if (wait4(child, &status, 0, &usage) != child || status != 0) return 70;
  printf("%ld\n", usage.ru_maxrss);
  return 0;
}
