import Foundation

/// Formats, and the IDs of the matching objects of `SampleGraph`. Sources:
/// https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/Predicates/Articles/pSyntax.html
/// https://developer.apple.com/documentation/foundation/nsexpression/init(forfunction:arguments:)
enum ConformanceRows {
    struct Row: Sendable {
        let format: String
        let expected: String
        /// The IDs found by a fetch: the same, except where columns decide how values are compared.
        let fetched: String

        init(_ format: String, _ expected: String, fetched: String? = nil) {
            (self.format, self.expected, self.fetched) = (format, expected, fetched ?? expected)
        }
    }

    static let all = comparisons + nulls + compounds + texts + lists + paths + collections + arithmetic + functions + literals + relations

    static let comparisons: [Row] = [
        Row("age = 30", "a"), Row("age == 30", "a"), Row("age != 30", "bcde"), Row("age <> 30", "bcde"), Row("age < 40", "ae"),
        Row("age <= 40", "abe"),
        Row("age =< 40", "abe"), Row("age > 30", "bc"), Row("age >= 40", "bc"), Row("age => 40", "bc"), Row("30 = age", "a"), Row("30 < age", "bc"),
        Row("40 >= age", "abe"), Row("(age) = 30", "a"), Row("(age = 30)", "a"), Row("((age)) = ((30))", "a"), Row("age = 30.0", "a"),
        Row("age = 30.5", ""), Row("age > 30.5", "bc"), Row("age < -0.5", ""), Row("ratio = 0.5", "a"), Row("ratio = .5", "a"),
        Row("ratio < 0", "d"),
        Row("ratio > 1", "be"), Row("ratio = 1e300", "e"), Row("ratio >= 15e-1", "be"), Row("ratio = -2.5", "d"), Row("ratio > -3", "abde"),
        Row("price = 10.5", "a"), Row("price > 2", "ae"), Row("price >= 2", "abe"), Row("price < 0", "d"), Row("price = 1000", "e"),
        Row("flag = YES", "ad"), Row("flag = NO", "be"), Row("flag == TRUE", "ad"), Row("flag == false", "be"), Row("flag = 1", "ad"),
        Row("flag = 0", "be"),
        Row("flag != YES", "bce"), Row("YES = flag", "ad"), Row("bits = -1", "d"), Row("bits = - 1", "d"), Row("bits < 0", "d"),
        Row("name = 'Ada'", "a"),
        Row("name = \"Ada\"", "a"), Row("name != 'Ada'", "bcde"), Row("name < 'B'", "a"), Row("name >= 'C'", "cde"), Row("name > 'a'", "d"),
        Row("'B' > name", "a"), Row("age BETWEEN {30, 40}", "ab"), Row("age between { 31 , 50 }", "bc"), Row("ratio BETWEEN {-3, 0.5}", "ad"),
        Row("name BETWEEN {'A', 'C'}", "ab"), Row("name BETWEEN[c] {'A', 'b'}", "ad"), Row("price BETWEEN {2, 11}", "ab"),
        Row("NOT age BETWEEN {30, 40}", "cde"),
        Row("age BETWEEN {30, nil}", ""), Row("35 BETWEEN {age, 40}", "ae"), Row("age = '30'", "", fetched: "a"),
        Row("name = 30", ""), Row("name > 30", "", fetched: "abcde"),
        Row("1 = 1", "abcde"), Row("1 > 2", ""), Row("'a' = 'a'", "abcde"), Row("'a' ==[c] 'A'", "abcde"), Row("SELF = SELF", "abcde"),
        Row("self != nil", "abcde"),
        Row("age = bits", ""), Row("bits < age", "abc"), Row("name = word", ""), Row("name < word", "abde"), Row("name = name", "abcde"),
        Row("age != age", ""),
        Row("born = born", "abcde"), Row("age > ratio", "ab"), Row("price > ratio", "abd"),
    ]

    static let nulls: [Row] = [
        Row("age = nil", "d"), Row("age == NULL", "d"), Row("age != nil", "abce"), Row("nil = age", "d"), Row("NIL != age", "abce"),
        Row("ratio = nil", "c"),
        Row("word = nil", "c"), Row("word != nil", "abde"), Row("price = nil", "c"), Row("flag = nil", "c"), Row("flag != nil", "abde"),
        Row("born = nil", "c"),
        Row("boss = nil", "a"), Row("boss != nil", "bcde"), Row("boss.boss = nil", "abc"), Row("boss.boss != nil", "de"),
        Row("boss.name = nil", "a"),
        Row("boss.name != nil", "bcde"), Row("boss.age = nil", "ae"), Row("age < nil", ""), Row("age >= nil", ""), Row("NOT age < nil", "abcde"),
        Row("NOT age < 100", "d"), Row("NOT (age = 30)", "bcde"), Row("NOT age != 30", "a"), Row("ratio < 100 OR ratio >= 100", "abde"),
        Row("nil = nil", "abcde"),
        Row("nil != nil", ""), Row("word BEGINSWITH nil", ""), Row("age IN {nil}", "d"), Row("age IN {30, nil}", "ad"), Row("uuid = nil", "bcde"),
        Row("data = nil", "bcde"), Row("link != nil", "a"), Row("extra = nil", "abce"), Row("extra = 'x'", "d"), Row("extra != 'x'", "abce"),
    ]

    static let compounds: [Row] = [
        Row("TRUEPREDICATE", "abcde"), Row("FALSEPREDICATE", ""), Row("truepredicate", "abcde"), Row("NOT TRUEPREDICATE", ""),
        Row("age = 30 AND flag = YES", "a"),
        Row("age = 30 && flag = NO", ""), Row("age = 30 OR age = 40", "ab"), Row("age = 30 || flag = NO", "abe"),
        Row("age = 30 or age = 40 and flag = YES", "a"),
        Row("(age = 30 OR age = 40) AND flag = NO", "b"), Row("NOT age = 30 AND flag = YES", "d"), Row("NOT (age = 30 AND flag = YES)", "bcde"),
        Row("! age = 30", "bcde"), Row("!(age = 30)", "bcde"), Row("NOT NOT age = 30", "a"), Row("!!(age = 30)", "a"),
        Row("not (age = 30 or age = 40)", "cde"),
        Row("(((age = 30)) OR ((age = 40)))", "ab"), Row("age > 0 AND age < 45 AND name != 'Bob'", "a"),
        Row("age = 1 OR age = 2 OR age = 40 OR age = 50", "bc"),
        Row("FALSEPREDICATE OR age = 50", "c"), Row("TRUEPREDICATE AND age = 50", "c"), Row("age=30AND flag=YES", "!"),
        Row("age=30 AND(flag=YES)", "a"),
        Row("(age + 10) = 40", "a"), Row("((age + 10) * 2 = 80) AND (flag = YES)", "a"),
    ]

    static let texts: [Row] = [
        Row("name BEGINSWITH 'A'", "a"), Row("name beginswith[c] 'A'", "ad"), Row("name ENDSWITH 'a'", "ad"), Row("name ENDSWITH[c] 'B'", "b"),
        Row("name CONTAINS 'd'", "ad"),
        Row("name CONTAINS[c] 'D'", "ade"), Row("name CONTAINS ''", "abcde"), Row("name BEGINSWITH ''", "abcde"), Row("name = ''", ""),
        Row("name ==[c] 'ADA'", "ad"),
        Row("name !=[c] 'ADA'", "bce"), Row("name <[c] 'B'", "ad"), Row("name >=[c] 'B'", "bce"), Row("word = 'Été'", "a"),
        Row("word ==[c] 'été'", "ade"),
        Row("word ==[d] 'ete'", "be"), Row("word ==[cd] 'ETE'", "abde"), Row("word !=[cd] 'ete'", "c"), Row("word CONTAINS[d] 'te'", "abe"),
        Row("word CONTAINS[cd] 'T'", "abde"), Row("word BEGINSWITH[cd] 'é'", "abde"), Row("word BEGINSWITH 'e'", "be"),
        Row("word ENDSWITH[c] 'é'", "ade"),
        Row("word ==[n] 'ete'", "b"), Row("word ==[cn] 'ETE'", ""), Row("word ==[cdl] 'ETE'", "abde"), Row("word BEGINSWITH[l] 'ete'", "b"),
        Row("name LIKE 'Ada'", "a"),
        Row("name LIKE 'A*'", "a"), Row("name LIKE '*a'", "ad"), Row("name LIKE '*d*'", "ad"), Row("name LIKE 'A?a'", "a"),
        Row("name LIKE '?d?'", "ad"),
        Row("name LIKE '??'", "c"), Row("name LIKE '*'", "abcde"), Row("name LIKE ''", ""), Row("name LIKE[c] 'ADA'", "ad"),
        Row("name LIKE[c] 'a?A'", "ad"),
        Row("name LIKE 'D\\\\*n\\\\?y*'", "e"), Row("name LIKE 'D\\\\*n\\\\?y\\\\\\\\'", "e"), Row("name LIKE 'B**b'", "b"),
        Row("word LIKE '?t?'", "ab"),
        Row("word LIKE[cd] 'E?E'", "abde"), Row("name NOT LIKE 'A*'", "bcde"), Row("NOT name LIKE 'A*'", "bcde"), Row("name MATCHES 'A.*'", "a"),
        Row("name MATCHES 'd'", ""),
        Row("name MATCHES '.*d.*'", "ad"), Row("name MATCHES[c] 'a.+'", "ad"), Row("name MATCHES 'A|Ada|B'", "a"),
        Row("name MATCHES '[A-C][a-z]{1,2}'", "abc"),
        Row("name MATCHES '(?i)ADA'", "ad"), Row("word MATCHES[cd] 'e.e'", "abde"), Row("name MATCHES '\\\\w+'", "abcd"),
        Row("name MATCHES 'Ada # no'", ""),
        Row("name MATCHES '(?x)Ada # yes'", "a"), Row("'Adam' BEGINSWITH name", "a"), Row("'x' IN name", ""), Row("'d' IN name", "ad"),
        Row("'D' IN[c] name", "ade"),
        Row("name IN 'Ada Bob'", "ab"), Row("name IN[c] 'ADA'", "ad"), Row("name.length = 3", "abd"), Row("name.length > 3", "e"),
        Row("word.length = 5", "e"),
        Row("name = 'D*n?y\\\\'", "e"), Row("link = 'https://example.org/a'", "a"), Row("link BEGINSWITH 'https'", "a"),
        Row("age BEGINSWITH '3'", ""),
        Row("name NOT IN {'Ada'}", "bcde"), Row("name NOT CONTAINS 'd'", "bce"),
    ]

    static let lists: [Row] = [
        Row("age IN {30, 50}", "ac"), Row("age IN {}", ""), Row("NOT age IN {30}", "bcde"), Row("age NOT IN {30, 40}", "cde"),
        Row("name IN {'Ada', 'Cy'}", "ac"),
        Row("name IN[c] {'ADA', 'x'}", "ad"), Row("word IN[cd] {'ETE'}", "abde"), Row("30 IN {age, 1}", "a"), Row("flag IN {YES}", "ad"),
        Row("ratio IN {0.5, 1.5}", "ab"),
        Row("price IN {2, 10.5}", "ab"), Row("age IN {30, 'x'}", "a"), Row("{1, 2} = {1, 2}", "abcde"), Row("{1, 2} = {2, 1}", ""),
        Row("{1, 2} CONTAINS 2", "abcde"),
        Row("{30, 40} CONTAINS age", "ab"), Row("{'ADA'} CONTAINS[c] name", "ad"), Row("age IN {30} UNION {40}", "ab"),
        Row("age IN {30, 40} INTERSECT {40, 50}", "b"),
        Row("age IN {30, 40} MINUS {40}", "a"), Row("age IN ({30} UNION {40} UNION {50}) MINUS {40}", "ac"),
        Row("{1, 1, 2} UNION {2} = {1, 2}", "abcde"),
        Row("{30, 40}[0] = age", "a"), Row("{30, 40}[1] = age", "b"), Row("{30, 40}[FIRST] = age", "a"), Row("{30, 40}[LAST] = age", "b"),
        Row("{30, 40}[SIZE] = 2", "abcde"),
        Row("{30}[5] = nil", "abcde"), Row("{30}[-1] = nil", "abcde"), Row("age = {29 + 1, 2}[FIRST]", "a"), Row("ANY {30, 40} = age", "ab"),
        Row("ALL {30, 40} > age", "e"),
        Row("ALL {} > age", "abcde"), Row("ANY {} > age", ""), Row("NONE {30, 40} = age", "cde"), Row("SOME {0, 40} = age", "be"),
    ]

    static let paths: [Row] = [
        Row("boss.name = 'Ada'", "bc"), Row("boss.name != 'Ada'", "ade"), Row("boss.boss.name = 'Ada'", "d"),
        Row("boss.boss.boss.name = 'Ada'", "e"), Row("boss.age > 30", "d"),
        Row("boss.age IN {30}", "bc"),
        Row("boss.name BEGINSWITH[c] 'a'", "bce"), Row("SELF.name = 'Ada'", "a"), Row("self.boss.name = 'Ada'", "bc"), Row("#name = 'Ada'", "a"),
        Row("#order = 1", "a"), Row("order = 1", "a"), Row("boss.#name = 'Ada'", "bc"), Row("boss.self.name = 'Ada'", "bc"),
        Row("boss = boss", "abcde"), Row("boss = boss.boss", "a"),
        Row("boss.name.length = 3", "bce"), Row("boss.age < age", "bc"), Row("boss.age = boss.age", "abcde"),
    ]

    static let collections: [Row] = [
        Row("tags.@count = 0", "c"), Row("tags.@count > 1", "ad"), Row("team.@count = 1", "cd"), Row("team.@count >= 1", "acd"),
        Row("tags.@sum.weight = 3", "ae"),
        Row("tags.@sum.weight = 0", "c"), Row("tags.@sum.weight = 15", "d"), Row("tags.@max.weight > 2", "de"), Row("tags.@min.weight = 1", "ab"),
        Row("tags.@avg.weight = 1.5", "a"),
        Row("tags.@avg.weight = 5", "d"), Row("tags.@min.weight = nil", "c"), Row("tags.@min.label = 'blue'", "ad"), Row("team.@sum.age = 90", "a"),
        Row("ANY tags.label = 'red'", "ab"),
        Row("ANY tags.weight > 2", "de"), Row("SOME tags.weight > 2", "de"), Row("ALL tags.weight > 1", "cde"), Row("ALL tags.weight = 1", "bc"),
        Row("NONE tags.label = 'red'", "cde"),
        Row("NOT ANY tags.label = 'red'", "cde"), Row("ANY tags.label = nil", "d"), Row("ALL tags.label != nil", "abce"),
        Row("ANY tags.label IN {'red', 'green'}", "abde"),
        Row("ANY tags.label BEGINSWITH[c] 'G'", "de"), Row("ANY tags.label LIKE '*e*'", "abde"), Row("ANY tags.label CONTAINS 'lu'", "ad"),
        Row("ANY tags.weight BETWEEN {2, 3}", "ade"),
        Row("'red' IN tags.label", "ab"), Row("tags.label CONTAINS 'red'", "ab"), Row("ANY team.name = 'Bob'", "a"),
        Row("ANY team.team.name = 'ada'", "a"),
        Row("ANY team.tags.label = 'red'", "a"), Row("ANY team.tags.label = 'green'", "cd"), Row("ANY team.team.tags.label = 'green'", "ac"),
        Row("ALL team.tags.weight = 1", "abe"),
        Row("ALL team.team.name = 'ada'", "abde"), Row("ANY team.tags.@count = 0", "a"), Row("ANY team.tags.@count > 1", "c"),
        Row("ANY boss.tags.label = 'blue'", "bce"),
        Row("ANY boss.team.name = 'Cy'", "bc"), Row("NONE boss.tags.label = 'red'", "ade"), Row("ANY team.boss.name = 'Ada'", "a"),
        Row("ANY team.age < ratio", ""),
        Row("ANY team.age > age", "a"), Row("ANY tags.samples.id = 'b'", "ab"), Row("tags.@unionOfObjects.label CONTAINS 'red'", "ab"),
        Row("tags.samples.@count > 2", ""), Row("ANY tags.samples.@count > 1", "abde"), Row("SUBQUERY(tags, $t, $t.weight > 1).@count = 1", "ae"),
        Row("SUBQUERY(tags, $t, $t.weight > 1).@count > 1", "d"),
        Row("SUBQUERY(tags, $t, $t.weight > 1 AND $t.label = 'green').@count > 0", "de"), Row("SUBQUERY(team, $x, $x.age > 40).@count != 0", "a"),
        Row("SUBQUERY(team, $x, SUBQUERY($x.team, $y, $y.name = 'ada').@count > 0).@count > 0", "a"),
        Row("SUBQUERY(team, $x, $x.age > $x.boss.age).@count = 2", "a"),
        Row("SUBQUERY(team, $x, ANY $x.tags.label = 'red').@count = 1", "a"), Row("SUBQUERY(tags, $t, $t.weight > 100).@count = 0", "abcde"),
        Row("SUBQUERY(tags, $t, $t.weight > 1).weight CONTAINS 3", "de"), Row("SUBQUERY(team, $x, $x.bits < bits).@count > 0", "ac"),
        Row("SUBQUERY(tags, $t, $t = $t).@count = tags.@count", "abcde"),
        Row("count(tags) = 2", "a"), Row("count:(tags) = 2", "a"), Row("sum(tags.weight) = 3", "ae"), Row("max(tags.weight) = 10", "d"),
        Row("min:(tags.weight) = 2", "d"),
        Row("average(tags.weight) = 1.5", "a"), Row("tags[SIZE] = 3", "d"), Row("tags.weight[SIZE] = 3", "d"),
        Row("ANY tags.weight = age - 29", "a"), Row("ANY tags.label ==[c] 'RED'", "ab"),
        Row("tags.label UNION {'x'} CONTAINS 'red'", "ab"), Row("(tags.label INTERSECT {'red', 'green'}) = {}", "c"),
    ]

    static let arithmetic: [Row] = [
        Row("age + 10 = 40", "a"), Row("age - 10 = 20", "a"), Row("age * 2 = 80", "b"), Row("age / 7 = 4", "a"), Row("age / 7.0 > 5", "bc"),
        Row("age ** 2 = 900", "a"),
        Row("2 + 3 * 4 = 14", "abcde"), Row("(2 + 3) * 4 = 20", "abcde"), Row("2 * 3 ** 2 = 18", "abcde"), Row("10 - 3 - 2 = 5", "abcde"),
        Row("-age = -30", "a"), Row("-(age) < -35", "bc"),
        Row("age + 10 > 45", "bc"), Row("40 = age + 10", "a"), Row("age + bits = 35", "a"), Row("age - bits > 30", "bc"), Row("ratio * 2 = 1", "a"),
        Row("ratio + age = 30.5", "a"),
        Row("price * 2 = 21", "a"), Row("price + 0.25 = -1", "d"), Row("age + nil = nil", "abcde"), Row("age / 0 = nil", "abcde"),
        Row("name + 1 = nil", "abcde"), Row("bits & 1 = 1", "ade"),
        Row("(bits & 4) != 0", "abde"), Row("bits | 1 = 7", "b"), Row("bits ^ 1 = 4", "a"), Row("bits << 1 = 10", "a"), Row("bits >> 1 = 3", "b"),
        Row("~bits = 0", "d"), Row("~bits = -6", "a"),
        Row("bits & 6 = 4", "a"), Row("age % 7", "!"), Row("age + 1 IN {31, 41}", "ab"), Row("age + 1 BETWEEN {31, 41}", "ab"),
        Row("age BETWEEN {20 + 10, bits + 35}", "ab"), Row("born + 86400 = born - -86400", "abcde"),
        Row("born - CAST(0, 'NSDate') = 86400", "b"), Row("born + 0 > CAST(0, 'NSDate')", "be"),
        Row("9223372036854775807 + 1 > 9223372036854775807", "abcde"), Row("age+10=40", "a"), Row("age-10=20", "a"),
        Row("age --10 = 40", "a"), Row("7 / 2 = 3", "abcde"), Row("-7 / 2 = -3", "abcde"), Row("7.0 / 2 = 3.5", "abcde"),
        Row("2 ** 0.5 > 1.41", "abcde"), Row("2 ** -1 = 0.5", "abcde"),
    ]

    static let functions: [Row] = [
        Row("abs(ratio) = 2.5", "d"), Row("abs:(-age) = 30", "a"), Row("ceiling(ratio) = 1", "a"), Row("floor(ratio) = 1", "b"),
        Row("floor:(ratio) = -3", "d"), Row("trunc(ratio) = -2", "d"), Row("trunc(ratio) = 0", "a"),
        Row("sqrt(age + 6) = 6", "a"), Row("ln(1) = 0", "abcde"), Row("log(100) = 2", "abcde"), Row("exp(0) = 1", "abcde"),
        Row("modulus:by:(age, 7) = 2", "a"), Row("raise:toPower:(age, 2) = 1600", "b"),
        Row("add:to:(age, 1) = 31", "a"), Row("from:subtract:(age, 1) = 29", "a"), Row("multiply:by:(age, 2) = 60", "a"),
        Row("divide:by:(age, 2) = 15", "a"), Row("bitwiseAnd:with:(bits, 4) = 4", "abde"),
        Row("leftshift:by:(1, 4) = 16", "abcde"), Row("onesComplement(0) = -1", "abcde"), Row("sum(1, 2, 3) = 6", "abcde"),
        Row("sum({1, 2, 3}) = 6", "abcde"), Row("sum(age, bits) = 35", "a"), Row("count({1, 2}) = 2", "abcde"),
        Row("max(age, 35) = 35", "ade"), Row("min(age, 35) = 30", "a"), Row("average(age, 0) = 20", "b"), Row("median({1, 9, 2}) = 2", "abcde"),
        Row("median({1, 2}) = 1.5", "abcde"), Row("stddev({2, 4}) = 1", "abcde"),
        Row("mode({1, 2, 2})[FIRST] = 2", "abcde"), Row("uppercase(name) = 'ADA'", "ad"), Row("lowercase(name) = 'ada'", "ad"),
        Row("canonical(word) = 'ete'", "abde"), Row("length(name) = 2", "c"), Row("length:(name) > 3", "e"),
        Row("uppercase(name) BEGINSWITH 'A'", "ad"), Row("lowercase:(name) IN {'ada', 'bob'}", "abd"), Row("uppercase(word) = nil", "c"),
        Row("now() > born", "abde"), Row("born < now()", "abde"), Row("born > now()", ""),
        Row("random() >= 0", "abcde"), Row("randomn:(5) < 5", "abcde"), Row("noindex:(age) = 30", "a"), Row("CAST(age, 'NSString') = '30'", "a"),
        Row("CAST('30', 'NSNumber') = age", "a"), Row("CAST(born, 'NSNumber') = 86400", "b"),
        Row("born = CAST(86400, 'NSDate')", "b"), Row("born > CAST(0, 'NSDate')", "be"), Row("price = CAST('10.5', 'NSDecimalNumber')", "a"),
        Row("uuid = CAST('00000000-0000-0000-0000-00000000000A', 'NSUUID')", "a"),
        Row("data = CAST('AQI=', 'NSData')", "a"), Row("link = CAST('https://example.org/a', 'NSURL')", "a"),
        Row("TERNARY(flag = YES, 1, 2) = 1", "ad"), Row("TERNARY(age > 35, 'old', 'young') = 'old'", "bc"),
        Row("TERNARY(age = nil, ratio, age) = 30", "a"), Row("FUNCTION(name, 'length') = 2", "c"),
        Row("FUNCTION(name, 'uppercaseString') = 'ADA'", "ad"), Row("FUNCTION(name, 'lowercaseString') = 'cy'", "c"),
        Row("FUNCTION(name, 'capitalizedString') = 'Ada'", "ad"), Row("FUNCTION(name, 'stringByAppendingString:', '!') = 'Bob!'", "b"),
        Row("FUNCTION(born, 'timeIntervalSinceReferenceDate') = 86400", "b"),
        Row("FUNCTION(born, 'dateByAddingTimeInterval:', 86400) = CAST(0, 'NSDate')", "d"),
        Row("born < FUNCTION(now(), 'dateByAddingTimeInterval:', -60)", "abde"), Row("FUNCTION(born, 'timeIntervalSince1970') > 978307200", "be"),
        Row("FUNCTION('12', 'intValue') = 12", "abcde"), Row("FUNCTION(tags, 'count') = 2", "a"), Row("sum(age, abs(ratio)) = 30.5", "a"),
        Row("abs(abs(ratio) - 1) = 0.5", "ab"),
    ]

    static let literals: [Row] = [
        Row("age = 0x1E", "a"), Row("age = 0X1e", "a"), Row("age = 0o36", "a"), Row("age = 0b11110", "a"), Row("bits = -0x1", "d"),
        Row("bits = 0xFF", "e"), Row("age = 3e1", "a"), Row("age = 3.0E+1", "a"), Row("age = 300e-1", "a"),
        Row("name = 'A\\x64a'", "a"), Row("name = '\\u0041da'", "a"), Row("name = '\\U00000041da'", "a"), Row("name = 'A\\da'", "a"),
        Row("word = '\\u00C9t\\u00e9'", "a"), Row("'a\\tb\\n' = 'a\\tb\\n'", "abcde"), Row("'it\\'s' = \"it's\"", "abcde"),
        Row("\"say \\\"x\\\"\" = 'say \"x\"'", "abcde"), Row("'' = \"\"", "abcde"), Row("name = 'Été'", ""), Row("word = \"Été\"", "a"),
        Row("1.5 = 15e-1", "abcde"), Row("1 = 1.0", "abcde"), Row("TRUE = 1", "abcde"), Row("YES = TRUE", "abcde"), Row("no = FALSE", "abcde"),
        Row("9007199254740993 = 9007199254740992.0", ""), Row("'a' < 'b'", "abcde"), Row("{'a', \"b\"}[LAST] = 'b'", "abcde"),
        Row("'%@' = '%' + '@'", ""), Row("'$x' CONTAINS '$'", "abcde"),
    ]

    static let relations: [Row] = [
        Row("SELF IN boss.team", "bcde"), Row("SELF IN team", ""), Row("boss IN team", ""), Row("boss IN {nil}", "a"), Row("team CONTAINS SELF", ""), Row("boss.team CONTAINS SELF", "bcde"), Row("tags = tags", "abcde"),
        Row("ANY team.boss = SELF", "acd"), Row("ANY team = boss", ""), Row("objectID = objectID", "abcde"),
        Row("boss.objectID = boss.objectID", "abcde"),
    ]
}
