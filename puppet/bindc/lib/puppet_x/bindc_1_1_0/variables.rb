# frozen_string_literal: true

module ::Puppet::Bindc_1_1_0
  # The variables of one compilation, as its scopes see them. It reads the tables of the scopes
  # directly: Scope#include? throws for an unset variable, and Scope#exist? searches all modules for
  # the class of a qualified name. Both take longer than a lookup, 20 times as long in JRuby.
  class Variables
    # The value of a variable that is not set.
    UNSET = :'bindc unset' unless const_defined?(:UNSET, false)

    def initialize(scope)
      @top = scope.compiler.topscope
      @qualified = scope.compiler.qualified_variables # of the top scope and of classes
      @outer = {}.compare_by_identity
      @values = []
    end

    # Sets the variables whose values determine a position.
    def watch(names)
      @names = names
    end

    # Returns the values of the watched variables as a scope sees them. The list is the same object
    # while none can have changed.
    def position(scope)
      return @values if @names.empty?

      mark = mark(scope)
      return @values if mark == @mark

      @mark = mark
      @values = @names.map { |name| find(scope, name) }
    end

    # Reports whether a name is a set variable of the top scope, which cannot change.
    def fixed?(name)
      name.start_with?('::') && @qualified.key?(name.delete_prefix('::'))
    end

    # Returns the value of a variable as a scope sees it, or UNSET.
    def find(scope, name)
      return qualified(name.delete_prefix('::')) if name.include?('::')

      table = tables(scope).find { |one| one.include?(name) }
      return table[name] if table

      ::Puppet::Parser::Scope::BUILT_IN_VARS.include?(name) ? nil : UNSET
    end

    # Returns the value of a variable of the top scope ('name') or of a class ('class::name'), or
    # UNSET.
    def qualified(name)
      return @qualified[name] if @qualified.key?(name)

      owner, _, local = name.rpartition('::')
      scope = @top.class_scope(owner) unless owner.empty? # nil unless the class has been evaluated
      scope = scope.inherited_scope until scope.nil? || table(scope).include?(local)
      scope ? table(scope)[local] : UNSET
    end

    private

    # Returns a mark that changes whenever a scope may see other variables. Variables are never
    # changed or removed, so it consists of their numbers.
    def mark(scope)
      scopes = [scope, *outer(scope)]
      mark = scopes.map { |one| table(one) }
      scopes.each { |one| mark << locals(one) unless counted?(one) }
      mark << @qualified.length
    end

    def tables(scope)
      [scope, *outer(scope)].map { |one| table(one) }
    end

    # The innermost table of a scope, with its parents.
    def table(scope)
      scope.effective_symtable(true)
    end

    # Returns the scopes whose variables a scope sees.
    def outer(scope)
      @outer[scope] ||= [].tap do |scopes|
        scopes << scope while (scope = scope.inherited_scope || scope.enclosing_scope)
      end
    end

    # Reports whether all variables of a scope are qualified. Those of lambdas and defined types are
    # not.
    def counted?(scope)
      return false unless scope.ephemeral_level == 1

      scope.equal?(@top) || scope.source.respond_to?(:type) && scope.source.type == :hostclass
    end

    # Returns the number of variables in the tables of a scope. A table without a size, such as that
    # of parameters being evaluated, gives a mark that equals no other.
    def locals(scope)
      count = 0
      table = table(scope)
      until table.nil?
        own = table.is_a?(::Puppet::Parser::Scope::MatchScope) ? [] : table.instance_variable_get(:@symbols)
        return Object.new unless own

        count += own.length
        table = table.parent
      end
      count
    end
  end
end
