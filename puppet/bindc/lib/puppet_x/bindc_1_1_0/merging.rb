# frozen_string_literal: true

module ::Puppet::Bindc_1_1_0
  # Puppet does not pass the merge strategy or the scope of a lookup to a function. An entry with
  # one location represents several entries, which bindq merges like Puppet. Therefore these modules
  # are prepended to the Puppet classes whose methods know the strategy and the scope.
  module Merging
    LOOKUP_KEY = 'bindc::lookup_key' unless const_defined?(:LOOKUP_KEY, false)
    DATA_HASH = 'bindc::data_hash' unless const_defined?(:DATA_HASH, false)

    # Reports whether a Puppet data provider is an entry that represents several entries.
    def self.entry?(provider)
      [KeyEntry, HashEntry].any? { |kind| provider.is_a?(kind) } && provider.locations == [nil] &&
        [LOOKUP_KEY, DATA_HASH].include?(provider.function_name)
    end

    # Returns the strategy for merging the answer, or nil for the first value. Puppet loads this
    # file during the first lookup of a process, which looks up lookup_options. That lookup was not
    # intercepted; it merges as a hash.
    def self.asked(invocation)
      return invocation.instance_variable_get(:@bindc_merge) if invocation.instance_variable_defined?(:@bindc_merge)

      { 'strategy' => 'hash' } if yield
    end

    # Returns the strategy in bindq's form, or nil if nothing is merged.
    def self.strategy(merge)
      return if merge.nil? || merge.is_a?(::Puppet::Pops::FirstFoundStrategy)

      merge = ::Puppet::Pops::MergeStrategy.strategy(merge)
      name = merge.class.key.to_s
      { 'strategy' => name }.merge(merge.options || {}) unless %w[first default].include?(name)
    end

    # Passes the strategy to the function called in the block.
    def self.tell(invocation, strategy)
      before = invocation.instance_variable_get(:@bindc_merge)
      invocation.instance_variable_set(:@bindc_merge, strategy)
      yield
    ensure
      invocation.instance_variable_set(:@bindc_merge, before)
    end

    # For entries with lookup_key. Puppet caches values regardless of strategy and scope.
    module KeyEntry
      def unchecked_key_lookup(key, invocation, merge)
        return super unless function_name == LOOKUP_KEY && locations == [nil]

        kept = function_context(invocation, nil)
        kept.data_hash&.clear if kept.cached_value('place')&.move(invocation.scope)
        strategy = Merging.strategy(merge)
        kept.data_hash&.delete(key.root_key) if strategy
        begin
          Merging.tell(invocation, strategy) { super(key, invocation, nil) }
        ensure
          kept.data_hash&.delete(key.root_key) if strategy
        end
      end
    end

    # For entries with data_hash. An entry without locations merges. Others have the first value at
    # location 0.
    module HashEntry
      def unchecked_key_lookup(key, invocation, merge)
        return super unless function_name == DATA_HASH

        place = bindc_place(invocation)
        bindc_forget if place.move(invocation.scope)
        strategy = Merging.strategy(merge)
        return super if strategy && locations != [nil]
        return bindc_explained(place, key, strategy, invocation) if invocation.explainer

        bindc_value(place, key.root_key, strategy, invocation)
      end

      private

      def bindc_place(invocation)
        location = locations.first
        kept = function_context(invocation, location)
        place = kept.cached_value('place')
        return place if place

        data_hash(invocation, location) # calls the function
        kept.cached_value('place')
      end

      # Empties the hashes that Puppet caches, because other variables may give other values.
      def bindc_forget
        locations.each { |location| @contexts[location]&.data_hash&.clear }
      end

      def bindc_value(place, key, strategy, invocation)
        throw :no_such_key if place.hidden?
        value = strategy ? place.merged(key, strategy, invocation) : place.first(key, invocation)
        throw :no_such_key if value.equal?(:not_found)
        value
      end

      def bindc_explained(place, key, strategy, invocation)
        root = key.root_key
        invocation.with(:data_provider, self) do
          found = false
          value = catch(:no_such_key) { bindc_value(place, root, strategy, invocation).tap { found = true } }
          place.explain(root, strategy).each { |line| invocation.report_text { line } } unless place.hidden?
          invocation.report_not_found(root) unless found
          throw :no_such_key unless found
          invocation.report_found(root, value)
        end
      end
    end

    # For hierarchies. The first questions are sent before Puppet reads hiera.yaml. A hierarchy with
    # a single entry of this kind must not merge again: 'unique' would change the merged value.
    module Hierarchy
      def config(invocation)
        Early.begin(invocation) unless @config
        super
      end

      def unchecked_key_lookup(key, invocation, merge)
        return super unless Merging.strategy(merge)

        entries = config(invocation).configured_data_providers(invocation, self)
        return super unless entries.length == 1 && Merging.entry?(entries.first)

        invocation.with(:data_provider, self) { entries.first.unchecked_key_lookup(key, invocation, merge) }
      end
    end

    ::Puppet::Pops::Lookup::LookupKeyFunctionProvider.prepend(KeyEntry)
    ::Puppet::Pops::Lookup::DataHashFunctionProvider.prepend(HashEntry)
    ::Puppet::Pops::Lookup::ConfiguredDataProvider.prepend(Hierarchy)
  end
end
