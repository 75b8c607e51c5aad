extension EtcdClient {
  /// Watches keys from a revision on, until the closure throws, the watch fails, or it is cancelled.
  ///
  /// All watches of a client share one connection, which one thread reads. It never returns without a
  /// throw. It ends with
  ///
  /// - ``EtcdError/Code/compacted`` if the revision was compacted or is in the future, or if `handler`
  ///   takes so long that too many changes wait for it;
  /// - ``EtcdError/Code/unreachable`` if the connection ends, the member has no leader, or does not
  ///   answer any more;
  /// - ``EtcdError/Code/permissionDenied`` if the user may not read any more. An open watch only goes
  ///   silent then, so it asks if nothing changes for ``EtcdConfiguration/Timing/checking``.
  ///
  /// The connection is renewed without a gap when the token is another one, and now and then.
  ///
  /// `began` is called once, when the server has accepted the watch, and `handler` with each answer,
  /// and without events after each check that has found nothing new, both on this thread.
  ///
  /// - Throws: ``EtcdError``, or what a closure throws.
  package func watch(
    _ keys: EtcdKeys, from revision: Int64, cancellation: EtcdCancellation,
    began: (EtcdHeader) throws -> Void = { _ in }, handler: (EtcdEvents) throws -> Void
  ) throws -> Never {
    var watch = Watch(caller, hub, keys, from: revision, cancellation)
    try watch.run(began, handler)
  }
}
