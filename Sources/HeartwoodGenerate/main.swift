import Foundation
import HeartwoodModelCode

exit(PluginRun.run(Array(CommandLine.arguments.dropFirst())))
