import Foundation
import ModelCode

exit(PluginRun.run(Array(CommandLine.arguments.dropFirst())))
