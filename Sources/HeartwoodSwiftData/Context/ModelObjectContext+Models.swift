import Heartwood

// Which models the context holds, and when it lets go of them.
//
// 1. An object that holds its model is in `recent` or `recentLists`, in `kept`, or in `lasting`, by its standing. So every cycle of an object and
//    its model is found, and `endKeeping` opens all.
// 2. The next use of the model context looks at each recent model, and at some of the lasting ones: as many as were recent, and a few more. So a
//    model that the program has let go of goes after some uses, and a use takes no longer for the sake of many models that are in use.

extension ModelObjectContext {
    /// The most recent models that are held: those of a larger fetch are not to stay in memory until the next use.
    private static var recentMax: Int { 100_000 }
    private static var lastingSteps: Int { 16 }

    /// Whether so many objects may hold models that are about to be made. The caller lists them.
    func mayHold(_ count: Int) -> Bool {
        guard keeps, recentCount + count <= Self.recentMax else { return false }
        recentCount += count
        return true
    }

    /// A new model stands before the object.
    func register(_ model: AnyObject, of object: ModelObject) {
        guard mayHold(1) else { return object.refer(to: model) }
        object.hold(model)
        recent.append(object)
    }

    /// Lets go of models that the program does not have any more.
    func letGoOfUnused() {
        if recentCount > 0 || !lasting.isEmpty, !isLooking { lookAtModels() }
    }

    @inline(never)
    private func lookAtModels() {
        // The end of a model may make others, and use the context.
        isLooking = true
        defer { isLooking = false }
        let (objects, lists, count) = (recent, recentLists, recentCount)
        (recent, recentLists, recentCount) = ([], [], 0)
        lookAtLasting(count + Self.lastingSteps)
        for object in objects where object.standing == .recent { lookAt(object) }
        for list in lists {
            for object in list where object.standing == .recent { lookAt(object) }
        }
    }

    @inline(__always)
    private func lookAt(_ object: ModelObject) {
        guard object.letGoIfUnused(), !object.isListed else { return }
        object.isListed = true
        lasting.append(object)
    }

    private func lookAtLasting(_ steps: Int) {
        for _ in 0..<min(steps, lasting.count) {
            if nextLasting >= lasting.count { nextLasting = 0 }
            guard nextLasting < lasting.count else { return }
            let object = lasting[nextLasting]
            // One that is kept stays in the list for the time after the save.
            if object.standing == .kept || object.standing == .lasting && object.letGoIfUnused() {
                nextLasting += 1
                continue
            }
            object.isListed = false
            guard nextLasting < lasting.count else { return }
            let last = lasting.removeLast()
            if nextLasting < lasting.count { lasting[nextLasting] = last }
        }
    }

    // MARK: Changed models

    func note(_ object: ModelObject) {
        kept.append(object)
        onChange?(self)
    }

    /// Lets go of the models that were held for their changes.
    /// - Parameter isSaved: whether inserted ones have lasting identities by now, which replace those that the program was told before.
    func releaseKept(isSaved: Bool = false) {
        let forgetsIdentities = isSaved && hasUnsavedIdentities
        let released = kept
        kept = []
        if isSaved { hasUnsavedIdentities = false }
        for object in released {
            if forgetsIdentities, let model = object.model as? any PersistentModel { model.rootStorage?.identity = nil }
            if object.standing == .kept { lookAt(object) }
        }
    }

    /// The model context goes. Models that the program has can still be read.
    func endKeeping() {
        keeps = false
        onChange = nil
        let all = recent + recentLists.flatMap(\.self) + kept + lasting
        (recent, recentLists, recentCount, kept, lasting) = ([], [], 0, [], [])
        for object in all { object.letGo() }
    }
}
