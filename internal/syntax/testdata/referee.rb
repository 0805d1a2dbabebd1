# Writes the answers of real Puppet (7.23) into shapes.txt: expressions, each followed by a line "=> tree" in the notation
# of sexpr in shape_test.go, or "=> error", and an empty line.
# usage: ruby referee.rb shapes.txt
require 'puppet'
require 'puppet/pops'
require 'tmpdir'
include Puppet::Pops::Model

def quote(s) = "'" + s.gsub(/[\\'\n\r\t]/) { |c| { "\n" => '\n', "\r" => '\r', "\t" => '\t' }[c] || '\\' + c } + "'"
def name(s) = s.delete_prefix('::')
def node(op, *parts) = '(' + [op, *parts].join(' ') + ')'
def all(list) = list.map { |n| tree(n) }
def one(n) = n.is_a?(UnfoldExpression) ? node('array', tree(n)) : tree(n) # where only one value can stand

def body(n) = n.nil? || n.is_a?(Nop) ? '(block)' : one(n)

def lambda_of(l)
  params = l.parameters.map do |p|
    '{' + [(p.captures_rest ? '*' : '') + p.name, ("type #{tree(p.type_expr)}" if p.type_expr), ("= #{one(p.value)}" if p.value)].compact.join(' ') + '}'
  end
  result = l.return_type ? node('call assert_type', tree(l.return_type), body(l.body)) : body(l.body)
  node('lambda', *params, result)
end

def call(o, name, args) = node("call #{name}", *args, *(o.lambda && [lambda_of(o.lambda)]))

def tree(o)
  case o
  when LiteralUndef then 'undef'
  when LiteralDefault then 'default'
  when LiteralBoolean, LiteralInteger then o.value.to_s
  when LiteralFloat then format('%.17e', o.value)
  when LiteralString, QualifiedName then quote(o.value)
  when LiteralRegularExpression then '/' + quote(o.value.source)[1..-2] + '/'
  when QualifiedReference then name(o.cased_value)
  when VariableExpression then '$' + name(o.expr.value.to_s)
  when TextExpression, ParenthesizedExpression then one(o.expr)
  when HeredocExpression then tree(o.text_expr)
  when ConcatenatedString then node('concat', *all(o.segments))
  when LiteralList then node('array', *all(o.values))
  when LiteralHash then node('hash', *o.entries.flat_map { |e| [one(e.key), one(e.value)] })
  when UnfoldExpression then node('splat', one(o.expr))
  when AccessExpression then node('access', one(o.left_expr), *all(o.keys))
  when CallNamedFunctionExpression
    f = o.functor_expr
    f.is_a?(QualifiedName) ? call(o, name(f.value), all(o.arguments)) : call(o, 'new', [tree(f), *all(o.arguments)])
  when CallMethodExpression
    call(o, name(o.functor_expr.right_expr.value), [tree(o.functor_expr.left_expr), *all(o.arguments)])
  when NotExpression then node('!', one(o.expr))
  when UnaryMinusExpression then node('neg', one(o.expr))
  when AndExpression then node('and', one(o.left_expr), one(o.right_expr))
  when OrExpression then node('or', one(o.left_expr), one(o.right_expr))
  when InExpression then node('in', one(o.left_expr), one(o.right_expr))
  when AssignmentExpression
    l = o.left_expr
    node('=', l.is_a?(LiteralList) ? node('array', *all(l.values)) : tree(l), one(o.right_expr))
  when ArithmeticExpression, ComparisonExpression, MatchExpression then node(o.operator, one(o.left_expr), one(o.right_expr))
  when UnlessExpression then node('if', one(o.test), body(o.else_expr), body(o.then_expr))
  when IfExpression then node('if', one(o.test), body(o.then_expr), body(o.else_expr))
  when CaseExpression
    node('case', one(o.test), *o.options.map { |c| node('option', *all(c.values), body(c.then_expr)) })
  when SelectorExpression
    node('selector', one(o.left_expr), *o.selectors.map { |s| node('option', tree(s.matching_expr), one(s.value_expr)) })
  when BlockExpression then o.statements.size == 1 ? one(o.statements[0]) : node('block', *o.statements.map { |s| one(s) })
  else raise "no expression: #{o.class}"
  end
end

Puppet::Util::Log.level = :crit
parser = Puppet::Pops::Parser::EvaluatingParser.new
env = Puppet::Node::Environment.create(:referee, [])
Puppet.initialize_settings([%q(--confdir), Dir.tmpdir, %q(--vardir), Dir.tmpdir])
Puppet.override(current_environment: env, loaders: Puppet::Pops::Loaders.new(env)) do
  blocks = File.read(ARGV[0]).split("\n\n").map { |block| block.sub(/\n=> .*\z/, '').chomp }
  answers = blocks.map do |source|
    source + "\n=> " + begin
      one(parser.parse_string(source).body)
    rescue StandardError
      'error'
    end
  end
  File.write(ARGV[0], answers.join("\n\n") + "\n")
end
