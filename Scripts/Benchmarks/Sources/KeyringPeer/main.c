// A process with a desktop's keyring of its own: each line of standard input, `COUNT AMONG`, reads this many of the first
// items, far from each other; the answer is the time of one read, in nanoseconds.

#include <stdio.h>
#include <time.h>

#include "CPeer.h"

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(void) {
  long count, among, calls = 0;
  while (scanf("%ld %ld", &count, &among) == 2 && count > 0) {
    long long start = now();
    for (long call = 0; call < count; call++) {
      char account[32];
      snprintf(account, sizeof account, "account-%ld", ++calls * 7919 % among);
      if (peer_lookup("bench", account) < 20) return 1;
    }
    printf("%lld\n", (now() - start) / count);
    fflush(stdout);
  }
  return 0;
}
