#if RemotePreferences
extension RemoteSource {
  /// Describes preferences at a URL.
  ///
  /// - Parameters:
  ///   - url: The URL; what is none is told when loading.
  ///   - format: The format of the answer.
  ///   - options: How to load.
  public convenience init(
    _ url: any URLConvertible, format: SerializationFormat = .json(),
    options: RemoteOptions = RemoteOptions()
  ) {
    self.init(url, format: format, options: options, transport: HTTPTransport())
  }
}

extension MutablePreferencesType {
  /// Loads preferences from a URL; see ``RemoteSource``.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - format: The format of the answer.
  ///   - options: How to load.
  /// - Returns: Where the values came from.
  /// - Throws: As ``RemoteSource/load(into:)``.
  @discardableResult
  public func load(
    from url: any URLConvertible, format: SerializationFormat,
    options: RemoteOptions = RemoteOptions()
  ) async throws -> RemoteOutcome {
    try await RemoteSource(url, format: format, options: options).load(into: self)
  }

  /// Loads preferences from JSON at a URL; see ``RemoteSource``.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - options: How to load.
  /// - Returns: Where the values came from.
  /// - Throws: As ``RemoteSource/load(into:)``.
  @discardableResult
  public func loadJSON(
    from url: any URLConvertible, options: RemoteOptions = RemoteOptions()
  ) async throws -> RemoteOutcome {
    try await load(from: url, format: .json(), options: options)
  }

  /// Loads preferences from a property list at a URL; see ``RemoteSource``.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - options: How to load.
  /// - Returns: Where the values came from.
  /// - Throws: As ``RemoteSource/load(into:)``.
  @discardableResult
  public func loadPropertyList(
    from url: any URLConvertible, options: RemoteOptions = RemoteOptions()
  ) async throws -> RemoteOutcome {
    try await load(from: url, format: .propertyList(), options: options)
  }
}

extension MutablePreferencesType {
  /// Begins to load preferences from a URL; see ``RemoteSource``.
  ///
  /// The values are set on another thread.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - format: The format of the answer.
  ///   - options: How to load.
  ///   - completionHandler: Told how it went, on any thread.
  /// - Returns: The load, which can be cancelled.
  @discardableResult
  public func load(
    from url: any URLConvertible, format: SerializationFormat,
    options: RemoteOptions = RemoteOptions(),
    completionHandler: (@Sendable (Result<RemoteOutcome, any Error>) -> Void)? = nil
  ) -> Task<Void, Never> {
    RemoteSource(url, format: format, options: options).load(into: self, completionHandler)
  }

  /// Begins to load preferences from JSON at a URL; see
  /// ``load(from:format:options:completionHandler:)``.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - options: How to load.
  ///   - completionHandler: Told how it went, on any thread.
  /// - Returns: The load, which can be cancelled.
  @discardableResult
  public func loadJSON(
    from url: any URLConvertible, options: RemoteOptions = RemoteOptions(),
    completionHandler: (@Sendable (Result<RemoteOutcome, any Error>) -> Void)? = nil
  ) -> Task<Void, Never> {
    load(from: url, format: .json(), options: options, completionHandler: completionHandler)
  }

  /// Begins to load preferences from a property list at a URL; see
  /// ``load(from:format:options:completionHandler:)``.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - options: How to load.
  ///   - completionHandler: Told how it went, on any thread.
  /// - Returns: The load, which can be cancelled.
  @discardableResult
  public func loadPropertyList(
    from url: any URLConvertible, options: RemoteOptions = RemoteOptions(),
    completionHandler: (@Sendable (Result<RemoteOutcome, any Error>) -> Void)? = nil
  ) -> Task<Void, Never> {
    load(
      from: url, format: .propertyList(), options: options, completionHandler: completionHandler)
  }
}
#endif
