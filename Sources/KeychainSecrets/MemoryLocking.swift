/// Whether secrets can be kept out of swap.
public enum MemoryLocking: String, Codable, Hashable, Sendable {
  /// Memory can be locked, as far as the limit allows.
  case available

  /// The limit (`RLIMIT_MEMLOCK`) leaves no page to be locked.
  case limited

  /// The call is denied although the limit allows it, as by the seccomp filter of a container or service.
  case denied
}
