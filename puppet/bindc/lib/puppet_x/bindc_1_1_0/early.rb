# frozen_string_literal: true

module ::Puppet::Bindc_1_1_0
  # The first questions of a session, sent before Puppet reads hiera.yaml, with their answers. The server answers while
  # Puppet reads.
  class Early
    # Sends the questions that the last compilation of the environment asked first. It does nothing if there was none, or
    # if this compilation has asked something.
    def self.begin(invocation)
      scope = invocation.scope.compiler.topscope
      return if Compile.of?(scope)

      environment = scope.compiler.environment.name.to_s
      connection, entries = ::Puppet::Bindc_1_1_0.expected(environment)
      Compile.of(scope, connection, environment).begin_early(invocation.scope, entries) if connection
    rescue Ended, Problem
      nil # The function reports the same error, or asks another server.
    end

    # The needs of the snapshot, as the server had sent them before.
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
