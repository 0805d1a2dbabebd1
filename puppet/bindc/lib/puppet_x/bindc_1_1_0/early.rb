# frozen_string_literal: true

module ::Puppet::Bindc_1_1_0
  # Sends the first questions of a compilation when it looks up its first key, if they are those of the last compilation
  # of the environment. The server answers while Puppet reads hiera.yaml.
  module Ahead
    def self.send(invocation)
      scope = invocation.scope.compiler.topscope
      return if Compile.of?(scope)

      environment = scope.compiler.environment.name.to_s
      connection, entries = Puppet::Bindc_1_1_0.expected(environment)
      Compile.of(scope, connection, environment).begin_early(invocation.scope, entries) if connection
    rescue Ended, Problem
      nil # The function has the same error, or another connection.
    end
  end

  # The first questions of a session that were sent early, with their answers.
  class Early
    # What the server said that the snapshot needs, when they were sent.
    attr_reader :needs

    def initialize(connection, needs)
      @connection = connection
      @opening = connection.opening
      @needs = needs
      @texts = []
    end

    # Keeps the text of an answer.
    def receive(text)
      @texts << text
    end

    # Returns the answers, nil if the connection was lost meanwhile. Only for the block of Connection#open.
    def answers
      return unless @connection.opening == @opening

      @connection.collect { @texts.length == 2 }
      @texts.map { |text| @connection.parse(text) }
    end
  end
end
