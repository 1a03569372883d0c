import Foundation

/// Notes of some ten words in several languages, with the frequencies of natural texts: the word of rank n is about n times rarer than the first.
struct NoteGenerator {
    let count: Int
    private let words: [String]
    /// The running sums of the words' frequencies.
    private let sums: [Double]
    /// The words with other letters than ASCII's, without marks.
    private let foldedWords: [String]

    private static let frequent: [String] = [
        "the of and to in is that it was for on are with as his they be at one have this from or had by hot but some what there we can out other "
            + "were all your when up use word how said each which she do their time if will way about many then them would write like so these",
        "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer "
            + "um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde über schön größe",
        "le de un être et à il avoir ne je son que se qui ce dans en du elle au pour pas vous par sur faire plus dire me on mon lui nous comme mais "
            + "pouvoir avec tout y aller voir bien où sans tu ou leur homme si deux même élève déjà château",
        "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si sin sobre este ya entre cuando todo "
            + "esta ser son dos también fue había era muy años hasta desde está mi porque qué sólo han yo hay vez puede niño mañana",
        "и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой так же от для вы год такой",
        "και το να του η της με που την από για τα είναι των σε ο οι στο θα τη στην τον τους δεν τις ένα μια ότι",
        "bir ve bu için de çok ama ne daha gibi kadar var mı sonra kendi ben ışık değil olan şey güneş küçük",
        "och att det som en på är av för med till den har de inte om ett han men var jag sig från vi så kan när år under också efter mycket själv",
    ]
    private static let onsets = ["b", "br", "c", "d", "dr", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pl", "qu", "r", "s", "st", "t", "tr", "v", "w", "z"]
    private static let vowels = ["a", "e", "i", "o", "u", "ai", "ea", "ou"]
    private static let ends = ["", "n", "r", "l", "s", "t", "nd", "rk", "m"]

    init(count: Int) {
        self.count = count
        var random = NoteRandom(state: 7)
        var words: [String] = []
        let lists = Self.frequent.map { $0.split(separator: " ").map(String.init) }
        for position in 0..<(lists.map(\.count).max() ?? 0) {
            for list in lists where position < list.count && !words.contains(list[position]) { words.append(list[position]) }
        }
        var known = Set(words)
        while words.count < 40_000 {
            var word = ""
            for _ in 0..<(2 + random.below(3)) {
                word += Self.onsets[random.below(Self.onsets.count)] + Self.vowels[random.below(Self.vowels.count)] + Self.ends[random.below(Self.ends.count)]
            }
            if known.insert(word).inserted { words.append(word) }
        }
        self.words = words
        foldedWords = words.filter { !$0.utf8.allSatisfy { $0 < 0x80 } }.map {
            $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil).replacingOccurrences(of: "ı", with: "i")
        }
        var sum = 0.0
        sums = words.indices.map { index in
            sum += 1 / (Double(index) + 3)
            return sum
        }
    }

    /// Whether a part of words, or a start of words, is in no word with other letters than ASCII's, which LIKE and the trigram tokenizer do not
    /// fold as Heartwood does.
    func isPlain(_ part: String, atStart: Bool = false) -> Bool {
        let isPart = part.utf8.allSatisfy { $0 < 0x80 }
        return isPart && !foldedWords.contains { atStart ? $0.hasPrefix(part) : $0.contains(part) }
    }

    /// The word of a rank.
    func word(_ rank: Int) -> String { words[rank] }

    func note(_ number: Int) -> (name: String, text: String) {
        var random = NoteRandom(state: UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        var text = ""
        for position in 0..<(6 + random.below(9)) {
            if position > 0 { text += position % 5 == 0 ? ", " : " " }
            let word = draw(&random)
            text += position == 0 ? word.prefix(1).uppercased() + word.dropFirst() : word
        }
        return ("\(draw(&random)) \(random.below(1_000_000))", text)
    }

    private func draw(_ random: inout NoteRandom) -> String {
        let wanted = random.fraction * (sums.last ?? 1)
        var low = 0, high = sums.count - 1
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return words[low]
    }
}

private struct NoteRandom {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    var fraction: Double { mutating get { Double(next() >> 11) / 9_007_199_254_740_992 } }
}
