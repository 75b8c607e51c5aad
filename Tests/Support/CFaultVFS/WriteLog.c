#include "WriteLog.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOGS = 4096, MAX_FILES = 16 };

typedef struct {
  bool active;
  char marker[128];
  char *paths[MAX_FILES];
  LoggedCall *calls;
  int count;
  int capacity;
} Log;

static Log logs[MAX_LOGS];
static int log_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int write_log_start(const char *marker) {
  int index = -1;
  pthread_mutex_lock(&mutex);
  if (log_count < MAX_LOGS && strlen(marker) < sizeof logs->marker) {
    // A log is never reused: a file that is still open may have its number.
    index = log_count++;
    logs[index].active = true;
    strcpy(logs[index].marker, marker);
  }
  pthread_mutex_unlock(&mutex);
  return index;
}

/// Returns the number of a path; the mutex is held.
static int file_number(Log *log, const char *path) {
  for (int i = 0; i < MAX_FILES; i++) {
    if (!log->paths[i]) log->paths[i] = strdup(path);
    if (log->paths[i] && strcmp(log->paths[i], path) == 0) return i;
  }
  abort();
}

LoggedFile write_log_file(const char *path) {
  LoggedFile found = {-1, -1};
  if (!path) return found;
  pthread_mutex_lock(&mutex);
  for (int i = log_count - 1; i >= 0 && found.log < 0; i--) {
    if (!logs[i].active || !strstr(path, logs[i].marker)) continue;
    found = (LoggedFile){i, file_number(&logs[i], path)};
  }
  pthread_mutex_unlock(&mutex);
  return found;
}

void write_log_add(
    LoggedFile file, int kind, long long offset, int count, const void *bytes) {
  if (file.log < 0) return;
  pthread_mutex_lock(&mutex);
  Log *log = &logs[file.log];
  if (log->active) {
    if (log->count == log->capacity) {
      log->capacity = log->capacity ? log->capacity * 2 : 1024;
      log->calls = realloc(log->calls, log->capacity * sizeof *log->calls);
      if (!log->calls) abort();
    }
    unsigned char *copy = NULL;
    if (count > 0) {
      copy = malloc(count);
      if (!copy) abort();
      memcpy(copy, bytes, count);
    }
    log->calls[log->count++] = (LoggedCall){kind, file.file, offset, count, copy};
  }
  pthread_mutex_unlock(&mutex);
}

int write_log_count(int log) {
  pthread_mutex_lock(&mutex);
  int count = logs[log].count;
  pthread_mutex_unlock(&mutex);
  return count;
}

LoggedCall write_log_call(int log, int index) {
  pthread_mutex_lock(&mutex);
  LoggedCall call = logs[log].calls[index];
  pthread_mutex_unlock(&mutex);
  return call;
}

const char *write_log_path(int log, int file) {
  pthread_mutex_lock(&mutex);
  const char *path = file < MAX_FILES ? logs[log].paths[file] : NULL;
  pthread_mutex_unlock(&mutex);
  return path;
}

void write_log_end(int log) {
  pthread_mutex_lock(&mutex);
  logs[log].active = false;
  for (int i = 0; i < logs[log].count; i++) free((void *)logs[log].calls[i].bytes);
  free(logs[log].calls);
  logs[log].calls = NULL;
  logs[log].count = logs[log].capacity = 0;
  for (int i = 0; i < MAX_FILES; i++) {
    free(logs[log].paths[i]);
    logs[log].paths[i] = NULL;
  }
  pthread_mutex_unlock(&mutex);
}
