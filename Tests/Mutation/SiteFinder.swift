import SwiftSyntax

/// Something that can be broken: what is written before and behind an expression or a statement, and what that means.
struct Site {
    let start: AbsolutePosition
    let end: AbsolutePosition
    /// What stands between the name of the function and the first operand, and after the last.
    let opening: (Int) -> String
    let closing: String
    /// What an operator inside is replaced with.
    var replaced: (start: AbsolutePosition, end: AbsolutePosition, text: String)?
    /// What each mutant does; most sites have one.
    let mutations: [String]
}

/// Finds the sites of one file, the outer ones first.
final class SiteFinder: SyntaxVisitor {
    private(set) var sites: [Site] = []

    /// Another state for each, of apps and of scenes.
    private static let otherStates = [
        "notRunning": "background", "inactive": "background", "active": "inactive", "background": "suspended",
        "suspended": "background", "terminating": "notRunning", "unattached": "background",
        "foregroundInactive": "background", "foregroundActive": "foregroundInactive",
    ]
    private static let otherMembers = ["first": "last", "last": "first"]

    private func wrap(
        _ node: some SyntaxProtocol, _ function: String, _ mutation: String,
        replacing operation: TokenSyntax? = nil, suffix: String = "", negation: String = ""
    ) {
        let replaced = operation.map {
            (start: $0.positionAfterSkippingLeadingTrivia, end: $0.endPositionBeforeTrailingTrivia, text: ",")
        }
        sites.append(
            Site(
                start: node.positionAfterSkippingLeadingTrivia, end: node.endPositionBeforeTrailingTrivia,
                opening: { "\(negation)Mutate.\(function)(\($0), " }, closing: suffix + ")",
                replaced: replaced,
                mutations: function == "number" ? [mutation + " + 1", mutation + " - 1"] : [mutation]))
    }

    private func wrapStatement(_ node: some SyntaxProtocol, _ mutation: String) {
        sites.append(
            Site(
                start: node.positionAfterSkippingLeadingTrivia, end: node.endPositionBeforeTrailingTrivia,
                opening: { "if !mutant(\($0)) { " }, closing: " }", mutations: [mutation]))
    }

    private func flip(_ node: some ExprSyntaxProtocol) {
        wrap(node, "flip", "not (\(node.trimmedDescription.oneLine))")
    }

    // No expression that runs.
    override func visit(_ node: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: KeyPathExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
        if case .expression(let condition) = node.condition, !condition.isFlippedAnyway { flip(condition) }
        return .visitChildren
    }

    override func visit(_ node: WhereClauseSyntax) -> SyntaxVisitorContinueKind {
        if !node.condition.isFlippedAnyway { flip(node.condition) }
        return .visitChildren
    }

    override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
        if !node.condition.isFlippedAnyway { flip(node.condition) }
        return .visitChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        flip(node)
        return .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if node.operator.text == "!" { flip(node) }
        return .visitChildren
    }

    override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        wrap(node, "number", node.literal.text)
        return .visitChildren
    }

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        guard let operation = node.operator.as(BinaryOperatorExprSyntax.self)?.operator else { return .visitChildren }
        let text = node.trimmedDescription.oneLine
        switch operation.text {
        case "==", "!=": flip(node)
        case "&&":
            wrap(node, "and", "|| in \(text)", replacing: operation)
            flipOperands(node)
        case "||":
            wrap(node, "or", "&& in \(text)", replacing: operation)
            flipOperands(node)
        case "<": wrap(node, "less", "the limit of \(text)", replacing: operation)
        case "<=": wrap(node, "lessOrEqual", "the limit of \(text)", replacing: operation)
        // a >= b is !(a < b).
        case ">=": wrap(node, "less", "the limit of \(text)", replacing: operation, negation: "!")
        case ">": wrap(node, "lessOrEqual", "the limit of \(text)", replacing: operation, negation: "!")
        default: break
        }
        return .visitChildren
    }

    private func flipOperands(_ node: InfixOperatorExprSyntax) {
        for operand in [node.leftOperand, node.rightOperand] where !operand.isFlippedAnyway { flip(operand) }
    }

    override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
        let name = node.declName.baseName.text
        if node.base == nil, node.declName.argumentNames == nil, let other = Self.otherStates[name],
            node.parent?.as(FunctionCallExprSyntax.self)?.calledExpression.id != node.id
        {
            wrap(node, "pick", ".\(other) for .\(name)", suffix: ", .\(other)")
        }
        if let base = node.base?.trimmedDescription, !base.contains("\n"), let other = Self.otherMembers[name],
            !node.isCalled, !node.isAssigned
        {
            wrap(node, "pick", "\(other) for \(node.trimmedDescription)", suffix: ", \(base).\(other)")
        }
        return .visitChildren
    }

    override func visit(_ node: LabeledExprSyntax) -> SyntaxVisitorContinueKind {
        let name = node.parent?.parent?.as(FunctionCallExprSyntax.self)?.calledExpression.trimmedDescription
        guard name == "Edge", let label = node.label?.text else { return .visitChildren }
        let text = "no \(node.trimmedDescription.oneLine)"
        switch label {
        case "gate", "before", "process": wrap(node.expression, "drop", text)
        case "after": wrap(node.expression, "empty", text)
        default: break
        }
        return .visitChildren
    }

    /// A statement that can be left out: a call, an assignment, or a return whose call gives nothing.
    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        let text = node.item.trimmedDescription.oneLine
        switch node.item {
        case .expr(let expression) where expression.canBeLeftOut && !node.isResult && !node.initializes:
            wrapStatement(node.item, "without \(text)")
        case .stmt(let statement):
            guard let call = statement.as(ReturnStmtSyntax.self)?.expression, call.is(FunctionCallExprSyntax.self),
                statement.isInFunctionWithoutResult
            else { break }
            sites.append(
                Site(
                    start: node.item.positionAfterSkippingLeadingTrivia,
                    end: node.item.endPositionBeforeTrailingTrivia,
                    opening: { "if mutant(\($0)) { return }; " }, closing: "",
                    mutations: ["return without \(call.trimmedDescription.oneLine)"]))
        default: break
        }
        return .visitChildren
    }
}

extension ExprSyntaxProtocol {
    /// A Boolean value that indicates whether its value is turned round by a rule for what it is, so that it need not be for where it stands.
    var isFlippedAnyway: Bool {
        if Syntax(self).is(BooleanLiteralExprSyntax.self) { return true }
        if let prefix = Syntax(self).as(PrefixOperatorExprSyntax.self) { return prefix.operator.text == "!" }
        let infix = Syntax(self).as(InfixOperatorExprSyntax.self)?.operator.as(BinaryOperatorExprSyntax.self)
        return ["==", "!="].contains(infix?.operator.text ?? "")
    }

    var canBeLeftOut: Bool {
        if let call = Syntax(self).as(FunctionCallExprSyntax.self) {
            return !["precondition", "fatalError"].contains(call.calledExpression.trimmedDescription)
        }
        return Syntax(self).is(InfixOperatorExprSyntax.self) && isAssignment
    }

    private var isAssignment: Bool {
        guard let infix = Syntax(self).as(InfixOperatorExprSyntax.self) else { return false }
        return infix.operator.is(AssignmentExprSyntax.self)
            || ["+=", "-="].contains(infix.operator.trimmedDescription)
    }
}

extension MemberAccessExprSyntax {
    /// A Boolean value that indicates whether it is a function and not its value.
    fileprivate var isCalled: Bool { parent?.as(FunctionCallExprSyntax.self)?.calledExpression.id == id }

    fileprivate var isAssigned: Bool {
        parent?.is(OptionalChainingExprSyntax.self) == true || parent?.is(MemberAccessExprSyntax.self) == true
    }
}

extension SyntaxProtocol {
    /// A Boolean value that indicates whether a value would not be complete without it.
    fileprivate var initializes: Bool {
        guard trimmedDescription.hasPrefix("self") else { return false }
        var ancestor = parent
        while let node = ancestor, !node.is(InitializerDeclSyntax.self) { ancestor = node.parent }
        return ancestor != nil
    }

    /// A Boolean value that indicates whether it is all that a closure, a property or a function with a result consists of, or a branch of that, and so
    /// its value.
    fileprivate var isResult: Bool {
        guard let list = parent?.as(CodeBlockItemListSyntax.self), list.count == 1, let owner = list.parent else {
            return false
        }
        if owner.is(ClosureExprSyntax.self) { return !trimmedDescription.contains(" = ") }
        if owner.is(AccessorBlockSyntax.self) { return true }
        if let function = owner.parent?.as(FunctionDeclSyntax.self) { return function.signature.returnClause != nil }
        let branches: Syntax? = owner.is(SwitchCaseSyntax.self) ? owner.parent?.parent : owner.parent
        guard let branches, branches.is(SwitchExprSyntax.self) || branches.is(IfExprSyntax.self) else { return false }
        guard let statement = branches.parent?.as(ExpressionStmtSyntax.self) else { return true }
        return statement.parent?.isResult ?? false
    }

    fileprivate var isInFunctionWithoutResult: Bool {
        var ancestor = parent
        while let node = ancestor {
            if let function = node.as(FunctionDeclSyntax.self) { return function.signature.returnClause == nil }
            if node.is(ClosureExprSyntax.self) || node.is(AccessorDeclSyntax.self) { return false }
            ancestor = node.parent
        }
        return false
    }
}

extension String {
    /// The text on one line, for a list.
    fileprivate var oneLine: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
