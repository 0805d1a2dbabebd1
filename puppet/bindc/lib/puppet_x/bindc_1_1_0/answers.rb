# frozen_string_literal: true

module ::Puppet::Bindc_1_1_0
  # The answers of a session for one merge strategy; nil is the first value.
  class Answers
    def initialize(session, strategy)
      @session = session
      @strategy = strategy
      @asked = {}    # values that lookups have requested
      @known = {}    # values that no lookup has requested yet
      @errors = {}
      @failed = {}   # requested keys with errors
      @held = {}     # keys that the server has named but not sent ahead
      @sent = []     # all keys that were sent ahead
      @complete = false # all bound keys have been sent or named
      @surprised = false # a lookup requested a key that the server had neither sent nor named
      @questions = {} # by prefix: :one, :each or :all
    end

    # Returns the value of a key, or :not_found.
    def [](key)
      @asked.fetch(key) { @asked[key] = find(key) }
    end

    # Adds the answers that the server sent ahead.
    def ahead(group)
      absent, held, complete = group.values_at('absent', 'held', 'complete')
      @complete ||= complete
      absent&.each { |key| @known[key] = :not_found }
      held&.each { |key| @held[key] = true }
      @sent.concat(take(group)).concat(absent || []).concat(held || [])
    end

    # Reports whether the list of keys that the server should send ahead has changed.
    def news?
      @complete || @surprised || (@asked.length + @failed.length) * 2 < @sent.length
    end

    # Returns the keys that the server should send ahead next time: those that lookups requested,
    # and those that it sent before, unless most of them were not needed.
    def wanted
      asked = @asked.keys | @failed.keys
      @complete || (@sent - asked).length * 2 > @sent.length ? asked : asked | @sent
    end

    private

    def find(key)
      fetch(key) unless known?(key) || @session.read_ahead && known?(key)
      failed(key) if @errors.key?(key)
      @known.delete(key) { :not_found }
    end

    def failed(key)
      @failed[key] = true
      @session.failed(key, @errors[key])
    end

    def known?(key)
      @known.key?(key) || @errors.key?(key)
    end

    # Requests a key, usually with all other keys of its module. A merge may be needed for only one
    # key of a module, so the first question is for one key.
    def fetch(key)
      prefix = key[0, (key.index('::') || -2) + 2]
      before = @questions[prefix]
      return @surprised = true if before == :all || @complete && !@held.key?(key)
      return one(key) if @held.key?(key)

      @surprised = true
      return one(key) if before == :each

      @questions[prefix] = @strategy && before.nil? ? :one : all(prefix)
      one(key) unless @questions[prefix] == :all
    end

    def one(key)
      take(@session.ask(question('ask' => 'keys', 'keys' => [key])))
    end

    # Without 'direct', the prefix '' would mean all keys.
    def all(prefix)
      asks = { 'ask' => 'prefix', 'prefix' => prefix, 'direct' => prefix.empty? }
      answer = @session.ask(question(asks), 'too_large')
      return :each unless answer

      take(answer)
      :all
    end

    def question(asks)
      @strategy ? asks.merge('merge' => @strategy) : asks
    end

    # Stores the values of an answer and returns their keys.
    def take(answer)
      values = Rich.values(answer)
      errors = answer.fetch('errors', {})
      @known.update(values)
      @errors.update(errors)
      values.keys.concat(errors.keys)
    end
  end

  # Decodes values that JSON cannot represent.
  module Rich
    # Returns the values of an answer, by key.
    def self.values(answer)
      values = answer.fetch('values', {})
      answer['rich']&.each { |key, value| values[key] = read(value) }
      values
    end

    def self.copy(value)
      case value
      when Array then value.map { |item| copy(item) }
      when Hash then value.transform_values { |item| copy(item) }
      else value
      end
    end

    def self.read(value)
      case value
      when Array then value.map { |item| read(item) }
      when Hash then value.key?('__ptype') ? special(*value.values_at('__ptype', '__pvalue')) : plain(value)
      else value
      end
    end

    def self.plain(hash)
      hash.transform_values { |item| read(item) }
    end

    def self.special(type, value)
      case type
      when 'Sensitive' then ::Puppet::Pops::Types::PSensitiveType::Sensitive.new(read(value))
      when 'Hash' then value.each_slice(2).to_h { |pair| read(pair) }
      when 'Regexp' then Regexp.new(value)
      when 'Type' then ::Puppet::Pops::Types::TypeParser.singleton.parse(value)
      when 'Default' then :default
      when 'Float' then value == 'NaN' ? Float::NAN : Float::INFINITY * (value.start_with?('-') ? -1 : 1)
      when 'Binary' then value.unpack1('m')
      else raise Problem, "bindq answers with a #{type}, which this module does not know; install a newer one"
      end
    end
  end
end
