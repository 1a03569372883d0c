// Made by heartwood generate. Changes are lost when it runs again.

import Foundation
import Heartwood

public class Book: Work {}
