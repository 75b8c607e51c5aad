/// Whether secrets can be kept out of swap.
public enum MemoryLocking: String, Codable, Hashable, Sendable {
  /// Memory can be locked, as far as the limit allows.
  case available

  /// The limit (`RLIMIT_MEMLOCK`) allows to lock no page.
  case limited

  /// The call is denied although the limit allows it, for example by a container's or service's
  /// seccomp filter.
  case denied
}
