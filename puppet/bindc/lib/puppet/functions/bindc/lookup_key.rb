# frozen_string_literal: true

require File.expand_path('../../../puppet_x/bindc_1_1_0/connection.rb', __dir__) unless defined?(Puppet::Bindc_1_1_0)

# Answers lookups of Hiera from a snapshot that `bindc build` made. For the `lookup_key` of an entry in a hiera.yaml of
# version 5. `bindc::data_hash` gives the same answers in less time.
#
# Starts `bindq serve` as a child, one for each process (in a puppetserver: for each JRuby), or asks one that listens.
#
# @example hiera.yaml of an environment
#   version: 5
#   hierarchy:
#     - name: bindc
#       lookup_key: bindc::lookup_key
#       uris: ['bindc:0', 'bindc:1']
#       options:
#         snapshot: /var/lib/bindc/%{::environment}.snap
Puppet::Functions.create_function(:'bindc::lookup_key') do
  # @param key
  #   The key that is looked up.
  # @param options
  #   The options of `bindc::data_hash`.
  # @param context
  #   The lookup context that Puppet passes.
  # @return
  #   The value that is bound to the key for this node.
  #
  # The parameter types are Any, because checking a type would take longer than the lookup.
  dispatch :lookup_key do
    param 'Any', :key
    param 'Any', :options
    param 'Any', :context
    return_type 'RichData'
  end

  def lookup_key(key, options, context)
    place = Puppet::Bindc_1_1_0.place(options, context, closure_scope)
    return context.not_found if place.hidden?

    value = place.answer(key, context.invocation)
    explain(context) { place.explain(key, place.strategy(key, context.invocation)) }
    value.equal?(:not_found) ? context.not_found : value
  end

  private

  # Puppet only indents the first line of a string, so each line is passed separately.
  def explain(context)
    lines = []
    context.explain { (lines = yield).first }
    lines.drop(1).each { |line| context.explain { line } }
  end
end
