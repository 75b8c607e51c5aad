// Declarations that the examples of the modules for servers assume.
import Logging
import ServiceLifecycle

struct Server: Service {
  func run() async throws {}
}

let server = Server()
let logger = Logger(label: "example")
