# frozen_string_literal: true

require_relative 'session'

module ::Puppet::Bindc_1_1_0
  # One location of one hierarchy entry in one compilation.
  class Place
    def initialize(options, connection, context, scope)
      @compile = Compile.of(scope, connection, context.environment_name.to_s)
      @entries = entries(options.fetch('entries', '0-'))
      @alone = !options.key?('uri')
      @number = number(options['uri'])
      compare(context.invocation) if options['compare']
      move(context.invocation.scope)
    end

    # Follows a lookup to its scope. Reports whether other variables apply there.
    def move(caller)
      return false if @session && @position == @compile.position(caller)

      before = @session
      @session = @compile.session(caller, @entries)
      @position = @compile.position(caller)
      !before.equal?(@session)
    end

    # Reports whether a comparison is making the lookup without this entry.
    def hidden?
      @hidden
    end

    # Returns the value of a key at this location, or :not_found.
    def answer(key, invocation)
      strategy = strategy(key, invocation)
      report(key, strategy ? @session.merged(key, strategy) : @session.candidate(key, @number), invocation)
    end

    # Returns the value with the highest precedence, or :not_found.
    def first(key, invocation)
      value = @session.winner(key)
      @comparison ? report(key, value, invocation) : value
    end

    # Returns the merged value, or :not_found.
    def merged(key, strategy, invocation)
      report(key, @session.merged(key, strategy), invocation)
    end

    def explain(key, strategy)
      @session.explain(key, strategy)
    end

    # Returns the strategy for merging the answer, or nil for the first value.
    def strategy(key, invocation)
      Merging.asked(invocation) { @alone && key == 'lookup_options' }
    end

    # Returns a hash that looks up its keys when Puppet reads them.
    def lazy(invocation)
      return {} if @hidden

      Hash.new do |hash, key|
        value = answer(key, invocation)
        report_lines(key, invocation) if invocation.explainer
        hash[key] = Escaping.escape(value) unless value.equal?(:not_found)
      end
    end

    private

    # Explains a key if Puppet reads the hash itself, as in the first lookup of a process.
    def report_lines(key, invocation)
      explain(key, strategy(key, invocation)).each { |line| invocation.report_text { line } }
    end

    def compare(invocation)
      @hidden = invocation.adapter_class == Comparison::Without
      @comparison = Comparison.new(@compile) unless @hidden
    end

    def report(key, value, invocation)
      @comparison&.report(key, value, invocation.scope, @session)
      value
    end

    def number(uri)
      return 0 if uri.nil?

      number = uri[/\Abindc:(\d+)\z/, 1]
      raise Problem, "hiera.yaml: the uri of location N is bindc:N, not #{uri}" unless number

      number.to_i
    end

    def entries(text)
      return text if text.is_a?(String) && text.match?(/\A\d+-\d*\z/)

      raise Problem, "hiera.yaml: 'entries' is FROM-TO or FROM-, as bindq hiera-config prints it, not #{text.inspect}"
    end
  end

  # Puppet interpolates the values of a data_hash. Values of a snapshot are final.
  module Escaping
    def self.escape(value)
      case value
      when String then value.include?('%{') ? value.gsub('%{', "%{literal('%')}{") : value
      when Array then interpolated?(value) ? value.map { |item| escape(item) } : value
      when Hash then interpolated?(value) ? value.to_h { |key, item| [escape(key), escape(item)] } : value
      else value
      end
    end

    def self.interpolated?(value)
      case value
      when String then value.include?('%{')
      when Array then value.any? { |item| interpolated?(item) }
      when Hash then value.any? { |key, item| interpolated?(key) || interpolated?(item) }
      end
    end
  end
end

require_relative 'comparison'
require_relative 'merging'
