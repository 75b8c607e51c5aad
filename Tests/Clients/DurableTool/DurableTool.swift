@main
struct DurableTool {
  static func main() {}
}
